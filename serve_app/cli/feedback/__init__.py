"""``quorumsql feedback``: sends and exports feedback on answers."""

from __future__ import annotations

import typer

from serve_app.cli.feedback import transfer, verdict

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command("right")(verdict.right)
app.command("wrong")(verdict.wrong)
app.command("export")(transfer.export)
