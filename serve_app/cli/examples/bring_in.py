"""``examples import``: verifies and stores pairs of a file or of a benchmark's train set."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from data.benchmarks.entries import peek_fields
from data.benchmarks.load import load_benchmark
from nl2sql.errors import SettingsError, UnknownDatabase
from retrieval.examples.files import Pair, read_pairs
from retrieval.examples.importing import ImportReport
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, build_json, prints
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.composition.examples import add_examples
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import prepare_benchmark
from serve_app.operations.example_pairs import build_pairs, select_train_set
from serve_app.operations.preparation import prepare
from serve_app.reporting import Reporter

_MOST_SHOWN = 20


@prints
def bring_in(
    context: typer.Context,
    database: Annotated[str, typer.Argument(help="The database that the questions are about.")],
    file: Annotated[
        str,
        typer.Argument(
            help='JSON lines of {"question", "sql", "roles"?}; or a benchmark as for `eval run`, '
            "whose train questions are used."
        ),
    ],
    as_: Annotated[
        str, typer.Option("--as", help="The principal to verify as; default: the local one.")
    ] = "",
    run: Annotated[
        bool, typer.Option("--run", help="Run each query, which takes longer than EXPLAIN.")
    ] = False,
    one_database: Annotated[
        bool,
        typer.Option(
            "--one-database", help="Read a dump whose questions name schemas as one database."
        ),
    ] = False,
) -> Output:
    """Verify pairs and store them. The same command again continues where it stopped."""
    cli: CliContext = context.obj
    report = asyncio.run(_bring_in(cli, database, file, as_, run, one_database, TerminalReporter()))
    return build_report_output(database, report)


async def _bring_in(
    cli: CliContext,
    database: str,
    file: str,
    name: str,
    run: bool,
    one_database: bool,
    reporter: Reporter,
) -> ImportReport:
    principal = cli.settings.identity.principal(name)
    wiring, pairs = await _read(cli, database, file, one_database, reporter)
    return await add_examples(wiring, database, pairs, principal, reporter, run=run)


async def _read(
    cli: CliContext, database: str, file: str, one_database: bool, reporter: Reporter
) -> tuple[Wiring, tuple[Pair, ...]]:
    """The pairs, and the wiring over a database that is indexed."""
    settings = cli.settings
    if is_native(path := Path(file)):
        if database not in settings.databases:
            raise UnknownDatabase(database, tuple(settings.databases))
        pairs = read_pairs(path)
        return await prepare(settings, reporter, databases=[database]), pairs
    benchmark = load_benchmark(file, configured=settings.databases, one_database=one_database)
    train = select_train_set(benchmark, file, database)
    ready = await prepare_benchmark(settings, train, reporter)
    if reason := ready.benchmark.missing.get(database):
        raise SettingsError(f"The database {database!r} is missing: {reason}")
    dialect = ready.wiring.settings.databases[database].dialect
    return ready.wiring, build_pairs(train.examples, dialect)


def is_native(path: Path) -> bool:
    """Whether it is a file of pairs, rather than a benchmark. Raises SettingsError."""
    return path.is_file() and {"question", "sql"} <= peek_fields(path)


def build_report_output(database: str, report: ImportReport, what: str = "pair") -> Output:
    """The outcome of an import; exits with 1 if nothing of it is stored."""
    nothing = not report.stored and not report.known
    document = {"database": database, **build_json(report)}
    return Output(document, lambda: _print_left_out(report, what), int(nothing))


def _print_left_out(report: ImportReport, what: str) -> None:
    """Prints the first entries that were left out, with the reason."""
    for entry in report.left_out[:_MOST_SHOWN]:
        CONSOLE.print(
            f"left out, {what} {entry.number}: {entry.question}\n  {entry.reason}",
            style="yellow",
            highlight=False,
            markup=False,
        )
    if (more := len(report.left_out) - _MOST_SHOWN) > 0:
        CONSOLE.print(f"and {more} more", style="yellow", highlight=False)
