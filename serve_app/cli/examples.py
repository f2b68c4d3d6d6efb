"""``quorumsql examples``: imports, lists and removes examples, and lists feedback."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nl2sql.errors import SettingsError, UnknownDatabase
from retrieval.examples.importing import (
    ImportReport,
    Pair,
    read_pairs,
    write_examples,
)
from retrieval.index_store.example_store import ExampleStore, Source, VerifiedExample
from retrieval.index_store.feedback_store import FeedbackStore
from serve_app.cli.context import CliContext
from serve_app.cli.index import call_index
from serve_app.cli.output import Output, build_json, confirm, prints, say
from serve_app.cli.terminal import TerminalReporter
from serve_app.composition.examples import add_examples
from serve_app.operations.preparation import prepare

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_MOST_SHOWN = 20
_SOURCES: tuple[Source, ...] = ("file", "benchmark", "feedback")
_COLUMNS = ("id", "source", "given_by", "roles", "question", "sql")

Database = Annotated[str, typer.Argument(help="The database that the questions are about.")]
Sources = Annotated[
    list[str] | None, typer.Option("--source", help="Only file, benchmark or feedback; repeat.")
]


@app.command("import")
@prints
def bring_in(
    context: typer.Context,
    database: Database,
    file: Annotated[Path, typer.Argument(help='JSON lines of {"question", "sql", "roles"?}.')],
    as_: Annotated[
        str, typer.Option("--as", help="The principal to verify as; default: the local one.")
    ] = "",
) -> Output:
    """Verify pairs and store them. The same command again continues where it stopped."""
    cli: CliContext = context.obj
    if database not in cli.settings.databases:
        raise UnknownDatabase(database, tuple(cli.settings.databases))
    report = asyncio.run(_bring_in(cli, database, read_pairs(file), as_))
    nothing = not report.stored and not report.known
    document = {"database": database, **build_json(report)}
    return Output(document, lambda: _print_left_out(report), int(nothing))


async def _bring_in(
    cli: CliContext, database: str, pairs: Sequence[Pair], name: str
) -> ImportReport:
    principal = cli.settings.identity.principal(name)
    reporter = TerminalReporter()
    wiring = await prepare(cli.settings, reporter, databases=[database])
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
    source: Sources = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="List what was said of answers instead.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="A file to write the examples to, which `examples import` reads."),
    ] = None,
) -> Output:
    """List the examples of a database, or write them to a file."""
    if feedback:
        if source or output:
            raise typer.BadParameter("--source and --output are for examples, not for --feedback.")
        notes = call_index(
            context.obj.settings, lambda index: FeedbackStore(index).list_all(database)
        )
        return Output(notes, columns=("question", "is_right", "correction", "given_by", "given_at"))
    found = _find(context.obj, database, source)
    if output is None:
        return Output(found, columns=_COLUMNS)
    write_examples(output, found)
    document = {"database": database, "entries": len(found), "file": output}
    return Output(document, f"{len(found)} examples of {database} written to {output}.")


@app.command("remove")
@prints
def remove(
    context: typer.Context,
    database: Database,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids, as `examples list` shows.")] = None,
    source: Sources = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Remove examples by id or by source."""
    cli: CliContext = context.obj
    if bool(ids) == bool(source):
        raise typer.BadParameter("Name either ids or a --source.")
    known = [example.id for example in _find(cli, database, source)]
    if unknown := sorted(set(ids or ()) - set(known)):
        raise SettingsError(
            f"{database} has no example {', '.join(unknown)}.",
            hint=f"`quorumsql examples list {database}` shows them.",
        )
    chosen = ids or known
    if not chosen:
        raise SettingsError(f"There are no such examples of {database}.")
    confirm(
        f"Remove {len(chosen)} examples of {database}? `quorumsql examples list --output` saves "
        "them.",
        yes=yes,
    )
    removed = call_index(cli.settings, lambda index: ExampleStore(index).remove(database, chosen))
    told = f"Removed {removed} examples of {database}."
    return Output({"database": database, "removed": removed}, told)


def _find(
    cli: CliContext, database: str, names: Sequence[str] | None
) -> tuple[VerifiedExample, ...]:
    """The examples of these sources; no names mean all. Raises BadParameter."""
    if wrong := sorted(set(names or ()) - set(_SOURCES)):
        raise typer.BadParameter(f"--source {wrong[0]}: it is one of {', '.join(_SOURCES)}.")
    sources = [source for source in _SOURCES if source in (names or ())]
    return call_index(
        cli.settings, lambda index: ExampleStore(index).list_examples(database, sources=sources)
    )
