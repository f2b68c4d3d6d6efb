"""The commands put together, and the one place where errors become text and an exit code.

A command's module is imported when the command is run, so that those that need little start at
once: ``--help`` imports none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from nl2sql.errors import QuorumError
from serve_app.cli.context import CliContext


class CommandPlace(NamedTuple):
    """Where a command or a group of commands is: a module of this folder, a name in it.

    ``summary`` is the first line of its help.
    """

    module: str
    name: str
    summary: str


COMMANDS: Mapping[str, CommandPlace] = {
    "ask": CommandPlace("ask", "ask", "Ask a question and see the SQL, why it won, and the rows."),
    "chat": CommandPlace(
        "chat",
        "chat",
        'Ask one question after the other; "and last year?" is understood. Ends with /exit.',
    ),
    "feedback": CommandPlace(
        "feedback",
        "app",
        "Say whether an answer is right: a right one is shown to the model as an example.",
    ),
    "serve": CommandPlace(
        "serve", "serve", "Start everything that is missing and serve until Ctrl-C."
    ),
    "stop": CommandPlace(
        "serve", "stop", "Stop the service that `serve --background` left running."
    ),
    "demo": CommandPlace(
        "demo",
        "demo",
        "Start everything, ask one question over HTTP, show what happened, stop again.",
    ),
    "doctor": CommandPlace(
        "doctor", "doctor", "Check databases, index, weights, cores or GPU, memory and ports."
    ),
    "settings": CommandPlace(
        "show_settings",
        "show_settings",
        "Every key of the settings file, with its default and meaning.",
    ),
    "index": CommandPlace("index", "app", "What search reads of the databases."),
    "model": CommandPlace("model", "app", "Fetch, list and remove model weights."),
    "policy": CommandPlace("policy", "app", "Who may see what: check, show, try, apply."),
    "keys": CommandPlace("keys", "app", "API keys of principals: create, list, rotate, revoke."),
    "audit": CommandPlace("audit", "audit", "Print the audit log of the index as JSON lines."),
    "examples": CommandPlace("examples", "app", "Verified questions shown to the model."),
    "sessions": CommandPlace("sessions", "app", "What is kept of conversations."),
    "eval": CommandPlace("evaluate", "app", "Measure the service on a benchmark."),
}


class Commands(TyperGroup):
    """The commands by name, each a line of help until it is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Enough of a command to list it; None for one that there is not."""
        place = COMMANDS.get(cmd_name)
        return None if place is None else TyperCommand(cmd_name, help=place.summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is run, whole."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load_command(name), rest


def load_command(name: str) -> Any:
    """Imports a command."""
    place = COMMANDS[name]
    found = getattr(import_module(f"serve_app.cli.{place.module}"), place.name)
    if isinstance(found, typer.Typer):
        group = get_group(found)
        group.name, group.help = name, place.summary
        return group
    single = typer.Typer(add_completion=False)
    single.command(name)(found)
    return get_command(single)


app = typer.Typer(
    cls=Commands,
    name="quorumsql",
    help="Questions in plain language, answered with guarded, read-only SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def configure(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            help="The settings file; default: quorumsql.yaml here, else the demo's.",
            envvar="QUORUMSQL_CONFIG",
        ),
    ] = None,
) -> None:
    """Holds what every command shares."""
    context.obj = CliContext(config)


def main() -> None:
    """Runs the command line; an error of ours is one line and exit code 1."""
    try:
        app()
    except QuorumError as error:
        from rich.markup import escape

        from serve_app.cli.terminal import ERRORS

        # Unwrapped: a path that is broken over two lines cannot be copied.
        ERRORS.print(
            f"[bold red]error:[/] {escape(error.message)}", highlight=False, soft_wrap=True
        )
        if error.hint:
            hint = escape(error.hint.strip())
            ERRORS.print(f"  [dim]→[/] {hint}", highlight=False, soft_wrap=True)
        sys.exit(1)
