"""``policy check`` and ``policy show``: checks the file against the database and shows rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from execution.guard_dialects import READERS
from execution.policies.access import CompiledPolicy
from execution.policies.rules import TableRule, render_path
from nl2sql.errors import PolicyError
from serve_app.cli.context import CliContext
from serve_app.cli.policy.loading import compile_policy, prepare_database
from serve_app.cli.terminal import CONSOLE

Database = Annotated[str | None, typer.Argument(help="The database; default: the default one.")]


def check(context: typer.Context, database: Database = None) -> None:
    """Check the policy file against the database: names, foreign keys and filters."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    compiled = compile_policy(wiring, name)
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("role", "tables", "whole", "filtered", "inherited", "views", "masked columns"):
        table.add_column(heading)
    for role, rules in compiled.roles.items():
        every = list(rules.values())
        counts = (
            len(every),
            sum(rule.is_whole for rule in every),
            sum(rule.filter is not None for rule in every),
            sum(rule.inherits is not None for rule in every),
            sum(rule.expands for rule in every),
            sum(len(rule.masks) for rule in every),
        )
        table.add_row(role, *(str(count) for count in counts))
    CONSOLE.print(table)
    CONSOLE.print(f"[green]✓[/] The policy fits {name}.", highlight=False)


def show(
    context: typer.Context,
    database: Database = None,
    role: Annotated[str | None, typer.Option(help="Only this role.")] = None,
) -> None:
    """Show which rows and columns of each table a role sees, and over which foreign keys."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    compiled = compile_policy(wiring, name)
    if role is not None and role not in compiled.roles:
        raise PolicyError(
            f"There is no role {role!r}.", hint=f"Known: {', '.join(compiled.roles)}."
        )
    for name in [role] if role else compiled.roles:
        CONSOLE.print(_build_table(compiled, name))


def _build_table(compiled: CompiledPolicy, role: str) -> Table:
    rules = compiled.roles[role]
    hidden = len(compiled.catalog.tables) - len(rules)
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"{role}: {compiled.policy.roles[role].description}",
        caption=f"{hidden} of {len(compiled.catalog.tables)} tables are hidden from this role.",
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("table", "rows", "hidden columns", "masked columns"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "table")
    for name, rule in rules.items():
        shown = {column.name for column in rule.columns}
        hidden_columns = [column.name for column in rule.table.columns if column.name not in shown]
        masks = (f"{column} ({mask})" for column, mask in rule.masks.items())
        rows = describe_rows(rule, compiled.catalog.dialect)
        table.add_row(name, rows, _join(hidden_columns), _join(masks))
    return table


def describe_rows(rule: TableRule, dialect: str) -> str:
    """Describes the rows of a table that a role sees, in one line."""
    if rule.filter is not None:
        return rule.filter.sql(READERS[dialect]).replace("%(", ":").replace(")s", "")
    if rule.inherits is not None:
        return f"over {render_path(rule.path).removeprefix(rule.table.qualified)}"
    if rule.expands:
        return "those of its tables"
    return "all, shared" if rule.shared else "all"


def _join(names: Iterable[str]) -> str:
    return ", ".join(names)
