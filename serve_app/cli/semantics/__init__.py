"""``quorumsql semantics``: checks definitions, and suggests some from verified examples."""

from __future__ import annotations

import typer

from serve_app.cli.semantics import check, suggest

app = typer.Typer(no_args_is_help=True)
app.command("check")(check.check)
app.command("suggest")(suggest.suggest)
