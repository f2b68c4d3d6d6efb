"""``semantics suggest``: definitions that verified examples have in common."""

from __future__ import annotations

import asyncio

import typer

from nl2sql.catalog import Catalog
from retrieval.index_store.verified_example import VerifiedExample
from retrieval.semantics.resolution import resolve_definitions
from retrieval.semantics.semantics_file import load_semantics
from retrieval.semantics.suggestions import render_suggestions, suggest_definitions
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints, write_text
from serve_app.cli.semantics.check import Database
from serve_app.composition.examples import read_examples
from serve_app.operations.preparation import build_wiring, start_embedded_server


@prints
def suggest(context: typer.Context, database: Database = None) -> Output:
    """Print aggregates and conditions that at least two examples have, as definitions.

    Give them the names that people use, remove what is not meant, and add them to the file
    yourself.
    """
    cli: CliContext = context.obj
    name = cli.settings.database_name(database)
    examples, catalog = asyncio.run(_read(cli, name))
    path = cli.settings.databases[name].semantics
    resolved = resolve_definitions(load_semantics(path), catalog)[0] if path else ()
    known = [built for each in resolved if (built := each.build(catalog)) is not None]
    pairs = [(example.question, example.sql) for example in examples]
    found = suggest_definitions(pairs, catalog, known)
    text = (
        f"# Suggestions from {len(pairs)} verified examples of {name}: {len(found)}. Rename them, "
        "and remove what is not meant.\n"
    )
    if found:
        text += render_suggestions(found)
    document = {"database": name, "examples": len(pairs), "suggestions": len(found), "yaml": text}
    return Output(document, lambda: write_text(text))


async def _read(cli: CliContext, database: str) -> tuple[tuple[VerifiedExample, ...], Catalog]:
    server = await asyncio.to_thread(start_embedded_server, cli.settings)
    return await read_examples(build_wiring(cli.settings, server), database)
