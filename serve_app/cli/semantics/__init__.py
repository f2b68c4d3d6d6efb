"""``quorumsql semantics``: checks definitions."""

from __future__ import annotations

import typer

from serve_app.cli.semantics import check

app = typer.Typer(no_args_is_help=True)
app.command("check")(check.check)
