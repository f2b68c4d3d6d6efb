"""``quorumsql batch``: answers a file of questions as one job, and shows what came of it."""

from __future__ import annotations

import typer

from serve_app.cli.batch import run, show

app = typer.Typer(no_args_is_help=True)
app.command("run")(run.run)
app.command("status")(show.status)
app.command("report")(show.report)
