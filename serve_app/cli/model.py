"""``quorumsql model``: fetches, lists and removes weights in the cache."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from generation.models.forms import OPENVINO, SAFETENSORS
from generation.models.progress import show_on_stderr
from generation.models.store import ModelStore
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.composition.wiring import Wiring

app = typer.Typer(no_args_is_help=True)


# The engines that run a model on this machine; their formats of weights differ.
LocalEngine = Literal["openvino", "vllm"]
_FORMS = {"openvino": OPENVINO, "vllm": SAFETENSORS}


def _find_store(context: typer.Context, engine: LocalEngine | None = None) -> ModelStore:
    cli: CliContext = context.obj
    form = None if engine is None else _FORMS[engine]
    return Wiring(cli.settings).models.build_model_store(show_on_stderr(), form=form)


@app.command("pull")
@prints
def pull(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A registered name, a hub id, a folder or a file.")],
    engine: Annotated[
        LocalEngine | None, typer.Option(help="The engine to fetch it for; default: as configured.")
    ] = None,
) -> Output:
    """Fetch the weights, check them, and convert them to the engine's format."""
    folder = _find_store(context, engine).pull(name)
    return Output({"model": name, "path": folder}, f"Ready in {folder}")


@app.command("list")
@prints
def list_models(context: typer.Context) -> Output:
    """List the registered models, and which of them are downloaded."""
    return Output(
        [
            {"model": entry.name, "downloaded": entry.present, "bytes": entry.bytes}
            for entry in _find_store(context).entries()
        ]
    )


@app.command("remove")
@prints
def remove(
    context: typer.Context, name: Annotated[str, typer.Argument(help="The model to remove.")]
) -> Output:
    """Delete the weights from the cache; `pull` fetches them again."""
    removed = _find_store(context).remove(name)
    told = f"Removed {name}." if removed else f"{name} was not downloaded."
    return Output({"model": name, "removed": removed}, told)
