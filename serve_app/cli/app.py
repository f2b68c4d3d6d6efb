"""Assembles the commands, and turns errors into text and an exit code.

A command's module is imported when the command is run, so that small commands start quickly:
``--help`` imports none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from nl2sql.errors import QuorumError
from serve_app.cli.context import CliContext

# Where a command or a group of commands is in this folder, and the first line of its help.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "ask": ("ask:ask", "Ask a question and see the SQL, why it won, and the rows."),
    "chat": (
        "chat:chat",
        'Ask several questions in a row; follow-ups like "and last year?" work. End with /exit.',
    ),
    "serve": ("service:serve", "Prepare what is missing and serve until Ctrl-C."),
    "status": (
        "service:status",
        "Show whether the service is ready, its parts, and its model.",
    ),
    "mcp": (
        "service:mcp",
        "Serve the Model Context Protocol over standard input and output, in this process.",
    ),
    "doctor": (
        "doctor:doctor",
        "Check databases, definitions, index, weights, cores or GPU, memory and port.",
    ),
    "index": ("index:app", "Build, inspect and drop the index of databases."),
    "model": ("model:app", "Fetch, list and remove model weights."),
    "policy": ("policy:app", "Check, test and apply policies."),
    "semantics": ("semantics:app", "Import definitions of other tools."),
    "keys": ("keys:app", "Create, list and revoke API keys."),
    "audit": ("records:audit", "Print the audit log of the index; with --json, whole."),
    "forget": (
        "records:forget",
        "Delete stored conversations: all, those with an id, or those of a principal.",
    ),
    "examples": ("examples:app", "Import, list and remove examples."),
    "batch": (
        "batch:batch",
        "Have the service answer a file of questions as one job. The same command continues it.",
    ),
    "eval": ("evaluate:app", "Measure the pipeline on a benchmark."),
}


class Commands(TyperGroup):
    """The commands by name; until one is run, only its line of help is known."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command with only its name and help; None if it does not exist."""
        _, summary = COMMANDS.get(cmd_name, ("", ""))
        return TyperCommand(cmd_name, help=summary) if summary else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The complete command that is run."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, command, rest
        return name, load_command(name), rest


def load_command(name: str) -> Any:
    """Imports a command."""
    place, summary = COMMANDS[name]
    found = resolve_name(f"serve_app.cli.{place}")
    if isinstance(found, typer.Typer):
        group = get_group(found)
        group.name, group.help = name, summary
        return group
    single = typer.Typer(add_completion=False)
    single.command(name)(found)
    return get_command(single)


app = typer.Typer(
    cls=Commands,
    name="quorumsql",
    help="Questions in plain language, answered with guarded, read-only SQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"quorumsql {version('quorumsql')}")
        raise typer.Exit


@app.callback()
def configure(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            help="The settings file; default: quorumsql.yaml in this folder, else the demo's.",
            envvar="QUORUMSQL_CONFIG",
        ),
    ] = None,
    _: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Sets the context that all commands share."""
    context.obj = CliContext(config)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line; prints our own errors as text and exits with 1.

    ``arguments`` are the program's by default.
    """
    try:
        app(arguments)
    except QuorumError as error:
        print_error(error)
        sys.exit(1)


def print_error(error: QuorumError) -> None:
    """Prints an error and what to do about it, on standard error."""
    from rich.markup import escape

    from nl2sql.errors import ServerUnavailable
    from serve_app.cli.terminal import ERRORS

    # Without a cause, the details are the message and the hint, which has its own line.
    told = error.message
    if isinstance(error, ServerUnavailable) and error.said:
        told = error.details
    # Not wrapped, because a path that is broken over two lines cannot be copied.
    ERRORS.print(f"[bold red]error:[/] {escape(told)}", soft_wrap=True)
    if error.hint:
        hint = escape(error.hint.strip())
        ERRORS.print(f"  [dim]→[/] {hint}", soft_wrap=True)
