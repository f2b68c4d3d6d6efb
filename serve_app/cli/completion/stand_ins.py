"""Commands that stand in for those of ``commands.json`` while a shell completes a word."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.main import get_command, get_group

from serve_app.cli.completion.description import FILE
from serve_app.cli.completion.names import list_names

_VARIABLE = "_QUORUMSQL_COMPLETE"
"""Set by the scripts that ``--install-completion`` writes."""


def is_completing() -> bool:
    """Whether a shell asks for completions."""
    return _VARIABLE in os.environ


def build_stand_in(name: str) -> Any:
    """The command of that name, which does nothing; typer completes it like the real one."""
    described = json.loads(FILE.read_text(encoding="utf-8"))[name]
    if described["commands"]:
        group = get_group(_build_app(described))
        group.name, group.help = name, described["summary"]
        return group
    single = typer.Typer(add_completion=False)
    single.command(name, help=described["summary"])(_build_function(described))
    return get_command(single)


def _build_app(described: dict[str, Any]) -> typer.Typer:
    app = typer.Typer()
    app.callback()(_build_function(described))
    for name, inside in described["commands"].items():
        app.command(name, help=inside["summary"])(_build_function(inside))
    return app


def _build_function(described: dict[str, Any]) -> Callable[..., None]:
    def nothing(**_: Any) -> None:
        """Is completed, never called."""

    parameters = [_build_parameter(each) for each in described["parameters"]]
    nothing.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return nothing


def _build_parameter(described: dict[str, Any]) -> inspect.Parameter:
    options, help_ = described["options"], described.get("help", "")
    is_many = described.get("is_many", False)
    kind: Any = list[str] | None if is_many else str | None
    default: Any = None
    info: Any
    if described.get("is_flag"):
        kind, default = bool, False
        info = typer.Option("/".join(options), help=help_)
    elif described["kind"] == "option":
        info = typer.Option(*options, help=help_, autocompletion=_build_completion(described))
    else:
        info = typer.Argument(help=help_, autocompletion=_build_completion(described))
    return inspect.Parameter(
        described["name"],
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )


def _build_completion(
    described: dict[str, Any],
) -> Callable[[typer.Context, str], list[str]] | None:
    """What offers values; None where the shell should offer files."""
    names, choices = described.get("names", ""), described.get("choices", [])
    if not names and not choices:
        return None

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        found = choices or list_names(names, context.find_root().params.get("config"))
        return [name for name in found if name.startswith(incomplete)]

    return complete
