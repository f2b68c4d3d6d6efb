"""The commands put together, and the one place where errors become text and an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nl2sql.errors import QuorumError
from serve_app.cli import (
    ask,
    chat,
    demo,
    doctor,
    evaluate,
    examples,
    feedback,
    index,
    model,
    policy,
    serve,
    sessions,
    show_settings,
)
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import ERRORS

app = typer.Typer(
    name="quorumsql",
    help="Questions in plain language, answered with guarded, read-only SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("ask")(ask.ask)
app.command("chat")(chat.chat)
app.command("feedback")(feedback.feedback)
app.command("serve")(serve.serve)
app.command("stop")(serve.stop)
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.command("settings")(show_settings.show_settings)
app.add_typer(index.app, name="index", help="What search reads of the databases.")
app.add_typer(model.app, name="model", help="Fetch, list and remove model weights.")
app.add_typer(policy.app, name="policy", help="Who may see what: check, show, try, apply.")
app.add_typer(examples.app, name="examples", help="Verified questions shown to the model.")
app.add_typer(sessions.app, name="sessions", help="What is kept of conversations.")
app.add_typer(evaluate.app, name="eval", help="Measure the service on a benchmark.")


@app.callback()
def configure(
    context: typer.Context,
    config: Annotated[
        Path, typer.Option("--config", "-c", help="The settings file.", envvar="QUORUMSQL_CONFIG")
    ] = Path("quorumsql.yaml"),
) -> None:
    """Holds what every command shares."""
    context.obj = CliContext(config)


def main() -> None:
    """Runs the command line; an error of ours is one line and exit code 1."""
    try:
        app()
    except QuorumError as error:
        ERRORS.print(f"[bold red]error:[/] {error.message}", highlight=False)
        if error.hint:
            ERRORS.print(f"  [dim]→[/] {error.hint.strip()}", highlight=False)
        sys.exit(1)
