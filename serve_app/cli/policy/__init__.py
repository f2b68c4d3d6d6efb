"""``quorumsql policy``: checks, shows, tests and applies policies."""

from __future__ import annotations

import typer

from serve_app.cli.policy import database, rules, trial

app = typer.Typer(no_args_is_help=True)
app.command("check")(rules.check)
app.command("show")(rules.show)
app.command("test")(trial.try_access)
app.command("sql")(database.print_sql)
app.command("apply")(database.apply)
