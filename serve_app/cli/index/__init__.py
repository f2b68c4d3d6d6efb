"""``quorumsql index``: builds, inspects and drops the index of databases."""

from __future__ import annotations

import typer

from serve_app.cli.index import build, diff, drop, status

app = typer.Typer(pretty_exceptions_enable=False)
app.command("build")(build.build)
app.command("status")(status.status)
app.command("diff")(diff.diff)
app.command("drop")(drop.drop)


@app.callback(invoke_without_command=True)
def build_all(context: typer.Context) -> None:
    """Build, inspect and drop the index. Without a command: `build` of all databases."""
    if context.invoked_subcommand is None:
        build.run_build(context.obj, [], verbose=False)
