"""``quorumsql model``: fetches, lists and removes weights in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from generation.models.forms import OPENVINO, PEFT, SAFETENSORS
from generation.models.registry import find_adapter, load_adapters
from generation.models.store import ModelStatus, ModelStore, RichProgress
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE
from serve_app.composition.models import Models
from serve_app.composition.wiring import Wiring

app = typer.Typer(no_args_is_help=True)


class LocalEngine(StrEnum):
    """The engines that run a model on this machine; their formats of weights differ."""

    OPENVINO = "openvino"
    VLLM = "vllm"


_FORMS = {LocalEngine.OPENVINO: (OPENVINO, PEFT), LocalEngine.VLLM: (SAFETENSORS, PEFT)}


def _find_store(context: typer.Context, name: str, engine: LocalEngine | None = None) -> ModelStore:
    """The store that keeps what has this name, a model or an adapter."""
    whole, adapter = (None, None) if engine is None else _FORMS[engine]
    if name in load_adapters():
        return _find_models(context).build_adapter_store(RichProgress(), form=adapter)
    return _find_models(context).build_model_store(RichProgress(), form=whole)


def _find_models(context: typer.Context) -> Models:
    cli: CliContext = context.obj
    return Wiring(cli.settings).models


@app.command("pull")
@prints
def pull(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A registered name, a hub id, a folder or a file.")],
    engine: Annotated[
        LocalEngine | None, typer.Option(help="The engine to fetch it for; default: as configured.")
    ] = None,
) -> Output:
    """Fetch the weights, check them, and convert them to the engine's format.

    A model's packaged adapter comes with it.
    """
    if (adapter := find_adapter(name)) is not None:
        # First, so that where the model is ready its adapter is too.
        _find_store(context, adapter.name, engine).pull(adapter.name)
    folder = _find_store(context, name, engine).pull(name)
    return Output(
        {"model": name, "path": folder},
        lambda: CONSOLE.print(f"Ready in {folder}", highlight=False, markup=False),
    )


@app.command("list")
@prints
def list_models(context: typer.Context) -> Output:
    """List the registered models and adapters, and which of them are downloaded."""
    models, known = _find_models(context), load_adapters()
    adapters = [each for each in models.build_adapter_store().entries() if each.name in known]
    entries = [*models.build_model_store().entries(), *adapters]
    document = [
        {"model": entry.name, "downloaded": entry.present, "bytes": entry.bytes}
        for entry in entries
    ]
    return Output(document, lambda: CONSOLE.print(_build_table(entries)))


def _build_table(entries: Sequence[ModelStatus]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("model", "downloaded", "MB"):
        table.add_column(column)
    for entry in entries:
        size = f"{entry.bytes / 1e6:,.0f}" if entry.bytes else ""
        table.add_row(Text(entry.name), "yes" if entry.present else "no", size)
    return table


@app.command("remove")
@prints
def remove(
    context: typer.Context, name: Annotated[str, typer.Argument(help="The model to remove.")]
) -> Output:
    """Delete the weights from the cache; `pull` fetches them again."""
    removed = _find_store(context, name).remove(name)
    told = f"Removed {name}." if removed else f"{name} was not downloaded."
    return Output(
        {"model": name, "removed": removed},
        lambda: CONSOLE.print(told, highlight=False, markup=False),
    )
