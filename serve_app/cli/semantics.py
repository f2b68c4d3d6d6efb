"""``quorumsql semantics``: imports the definitions that other tools have."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
import yaml

from serve_app.cli.output import Output, prints, write_text
from serve_app.cli.terminal import ERRORS, TerminalReporter
from serve_app.operations.preparation import build_wiring, start_embedded_server
from serve_app.operations.semantics import import_checked

app = typer.Typer(no_args_is_help=True)

_WIDTH = 100


@app.callback()
def _group() -> None:
    """Import definitions of other tools."""


@app.command("import")
@prints
def bring_in(
    context: typer.Context,
    database: Annotated[str, typer.Argument(help="The database that has the tables.")],
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True,
            dir_okay=False,
            help="dbt's target/manifest.json or semantic_manifest.json, Cube's model/cubes/*.yml, "
            "WrenAI's mdl.json.",
        ),
    ],
) -> Output:
    """Print the definitions of dbt, Cube or WrenAI as our file; report what is left out and why."""
    settings = context.obj.settings
    name = settings.source_database(database)
    wiring = build_wiring(settings, start_embedded_server(settings, TerminalReporter(ERRORS)))
    content, left_out = asyncio.run(import_checked(wiring, name, files))

    def tell() -> None:
        write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=_WIDTH))
        for reason in dict.fromkeys(each.reason for each in left_out):
            names = ", ".join(each.what for each in left_out if each.reason == reason)
            text = f"left out, {reason}: {names}"
            ERRORS.print(text, markup=False, soft_wrap=True)

    document = {"database": name, "definitions": content, "left_out": left_out}
    return Output(document, tell, int(set(content) == {"version"}))
