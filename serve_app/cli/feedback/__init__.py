"""``quorumsql feedback``: exports feedback on answers."""

from __future__ import annotations

import typer

from serve_app.cli.feedback import transfer

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command("export")(transfer.export)
