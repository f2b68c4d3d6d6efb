"""``policy sql`` and ``policy apply``: the policy as row-level security of PostgreSQL."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from execution.policies.row_level_security.apply import (
    Changes,
    apply_row_security,
    remove_row_security,
)
from execution.policies.row_level_security.blocks import (
    build_removal,
    render_script,
)
from execution.policies.row_level_security.ddl import build_comment, check_dialect, render_head
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, build_json, confirm, prints, write_text
from serve_app.cli.policy.loading import compile_policy, prepare_database
from serve_app.cli.policy.rules import Database
from serve_app.cli.terminal import CONSOLE
from serve_app.operations.row_level_security import find_reader, owner_url, plan_row_security

Remove = Annotated[bool, typer.Option("--remove", help="Undo it instead.")]


@prints
def print_sql(
    context: typer.Context,
    database: Database = None,
    remove: Remove = False,
) -> Output:
    """Print the policy as PostgreSQL roles, grants, policies and views, for psql."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    check_dialect(name, cli.settings.databases[name].dialect)
    if remove:
        script = render_script(build_removal(name))
    else:
        security = plan_row_security(wiring, name, compile_policy(wiring, name))
        statements = [*security.statements, build_comment(security)]
        script = render_script(statements, head=render_head(security))
    return Output({"database": name, "sql": script}, lambda: write_text(script))


@prints
def apply(
    context: typer.Context,
    database: Database = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Run it, print the changes, and roll back.")
    ] = False,
    remove: Remove = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Apply the policy in the database itself, as a second defence behind the guard."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    check_dialect(name, cli.settings.databases[name].dialect)
    url = owner_url(wiring, name)
    if remove:
        reader = find_reader(wiring, name)

        def run(dry: bool) -> Changes:
            return remove_row_security(url, name, reader=reader, dry_run=dry)
    else:
        security = plan_row_security(wiring, name, compile_policy(wiring, name))

        def run(dry: bool) -> Changes:
            return apply_row_security(url, security, dry_run=dry)

    planned = run(True)
    _print_changes(planned)
    if dry_run:
        told = "Nothing was changed: this was a dry run."
        return Output(_describe(name, planned, applied=False), lambda: CONSOLE.print(told))
    confirm(f"Apply these changes to {name}?", yes=yes)
    done = run(False)
    is_set = cli.settings.databases[name].row_level_security
    return Output(
        _describe(name, done, applied=True),
        lambda: _print_end(name, planned, done, is_set=is_set, remove=remove),
    )


def _describe(name: str, changes: Changes, *, applied: bool) -> dict[str, Any]:
    return {"database": name, "applied": applied, **build_json(changes)}


def _print_end(name: str, planned: Changes, done: Changes, *, is_set: bool, remove: bool) -> None:
    if (done.added, done.removed) != (planned.added, planned.removed):
        CONSOLE.print("[yellow]The database changed in the meantime; these were applied:[/]")
        _print_changes(done)
    CONSOLE.print(f"[green]✓[/] {escape(name)}: {_count(done)}.", highlight=False)
    if is_set == remove:
        CONSOLE.print(
            f"Now set databases.{name}.row_level_security to {str(not remove).lower()}, and "
            "restart the service: until then its queries fail.",
            highlight=False,
            markup=False,
        )


def _print_changes(changes: Changes) -> None:
    for mark, lines in (("[red]-[/]", changes.removed), ("[green]+[/]", changes.added)):
        for line in lines:
            CONSOLE.print(mark, end=" ")
            CONSOLE.print(line, highlight=False, markup=False, soft_wrap=True)
    for notice in changes.notices:
        CONSOLE.print("[yellow]![/]", end=" ")
        CONSOLE.print(notice, highlight=False, markup=False, soft_wrap=True)


def _count(changes: Changes) -> str:
    if not changes.added and not changes.removed:
        return "nothing to change"
    return f"{len(changes.added)} added, {len(changes.removed)} removed"
