"""``quorumsql model``: fetches, lists and removes weights in the cache."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from generation.models.store import ModelStore, RichProgress
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import CONSOLE
from serve_app.composition.wiring import Wiring

app = typer.Typer(no_args_is_help=True)


class LocalEngine(StrEnum):
    """The engines that run a model on this machine; their formats of weights differ."""

    LLAMA = "llama.cpp"
    VLLM = "vllm"


def _build_store(context: typer.Context, engine: LocalEngine | None = None) -> ModelStore:
    cli: CliContext = context.obj
    settings = cli.settings
    if engine is not None:
        model = settings.model.model_copy(update={"engine": engine.value})
        settings = settings.model_copy(update={"model": model})
    return Wiring(settings).models.build_model_store(RichProgress())


@app.command("pull")
def pull(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A registered name, a hub id, a folder or a file.")],
    engine: Annotated[
        LocalEngine | None, typer.Option(help="The engine to fetch it for; default: as configured.")
    ] = None,
) -> None:
    """Fetch the weights, check them, and convert them to the engine's format."""
    CONSOLE.print(f"Ready in {_build_store(context, engine).pull(name)}", highlight=False)


@app.command("list")
def list_models(context: typer.Context) -> None:
    """List the registered models, and which of them are downloaded."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("model", "downloaded", "MB"):
        table.add_column(column)
    for entry in _build_store(context).entries():
        size = f"{entry.bytes / 1e6:,.0f}" if entry.bytes else ""
        table.add_row(entry.name, "yes" if entry.present else "no", size)
    CONSOLE.print(table)


@app.command("remove")
def remove(
    context: typer.Context, name: Annotated[str, typer.Argument(help="The model to remove.")]
) -> None:
    """Delete the weights from the cache; `pull` fetches them again."""
    removed = _build_store(context).remove(name)
    CONSOLE.print(f"Removed {name}." if removed else f"{name} was not downloaded.", highlight=False)
