"""``quorumsql examples``: imports, lists and removes examples."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nl2sql.errors import SettingsError, UnknownDatabase
from retrieval.examples.importing import ImportReport
from retrieval.examples.pairs import Pair, read_pairs
from retrieval.index_store.example_store import ExampleStore, VerifiedExample
from serve_app.cli.context import CliContext
from serve_app.cli.index import call_index
from serve_app.cli.output import Output, build_json, confirm, prints, say
from serve_app.cli.terminal import TerminalReporter
from serve_app.composition.examples import add_examples
from serve_app.operations.exam import add_to_exam
from serve_app.operations.preparation import prepare

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_MOST_SHOWN = 20
_COLUMNS = ("id", "source", "given_by", "expired", "roles", "title", "question", "sql")

Database = Annotated[str, typer.Argument(help="The database that the questions are about.")]


@app.command("import")
@prints
def bring_in(
    context: typer.Context,
    database: Database,
    file: Annotated[Path, typer.Argument(help='JSON lines of {"question", "sql", …}.')],
    as_: Annotated[
        str, typer.Option("--as", help="The principal to verify as; default: the local one.")
    ] = "",
) -> Output:
    """Verify pairs and store them. The same command again continues where it stopped."""
    cli: CliContext = context.obj
    if database not in cli.settings.by_name:
        raise UnknownDatabase(database, tuple(cli.settings.by_name))
    report = asyncio.run(_bring_in(cli, database, read_pairs(file), as_))
    nothing = not report.stored and not report.known
    document = {"database": database, **build_json(report)}
    return Output(document, lambda: _print_left_out(report), int(nothing))


async def _bring_in(
    cli: CliContext, database: str, pairs: Sequence[Pair], name: str
) -> ImportReport:
    principal = cli.settings.identity.principal(name)
    reporter = TerminalReporter()
    wiring = await prepare(cli.settings, reporter, databases=[cli.settings.source_of(database)])
    return await add_examples(wiring, database, pairs, principal, reporter)


def _print_left_out(report: ImportReport) -> None:
    """Prints the first pairs that were left out, with the reason."""
    for entry in report.left_out[:_MOST_SHOWN]:
        say(f"left out, pair {entry.number}: {entry.question}\n  {entry.reason}")
    if (more := len(report.left_out) - _MOST_SHOWN) > 0:
        say(f"and {more} more")


@app.command("list")
@prints
def list_(
    context: typer.Context,
    database: Database,
    exam: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead, add the answers that reviewers called right to this questions file of "
            "`eval run`, where it does not have them.",
        ),
    ] = None,
) -> Output:
    """List the examples of a database; expired ones answer no question any more."""
    cli: CliContext = context.obj
    examples = _find(cli, database)
    if exam is None:
        return Output([asdict(example) for example in examples], columns=_COLUMNS)
    added = add_to_exam(exam, examples)
    return Output({"file": exam, "added": added}, f"{exam}: {len(added)} questions added.")


@app.command("remove")
@prints
def remove(
    context: typer.Context,
    database: Database,
    ids: Annotated[list[str], typer.Argument(help="Ids, as `examples list` shows.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Remove examples."""
    cli: CliContext = context.obj
    known = {example.id for example in _find(cli, database)}
    if unknown := sorted(set(ids) - known):
        raise SettingsError(
            f"{database} has no example {', '.join(unknown)}.",
            hint=f"`quorumsql examples list {database}` shows them.",
        )
    confirm(f"Remove {len(ids)} examples of {database}?", yes=yes)
    removed = call_index(cli.settings, lambda _, store: ExampleStore(store).remove(database, ids))
    told = f"Removed {removed} examples of {database}."
    return Output({"database": database, "removed": removed}, told)


def _find(cli: CliContext, database: str) -> list[VerifiedExample]:
    return call_index(cli.settings, lambda _, store: ExampleStore(store).list_examples(database))
