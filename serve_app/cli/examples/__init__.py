"""``quorumsql examples``: imports, lists, exports and removes examples."""

from __future__ import annotations

import typer

from serve_app.cli.examples import bring_in, remove, show

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command("import")(bring_in.bring_in)
app.command("list")(show.list_)
app.command("export")(show.export)
app.command("remove")(remove.remove)
