"""``policy check`` and ``policy show``: checks the file against the database and shows rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from execution.guard_dialects import READERS
from execution.policies.access import CompiledPolicy
from execution.policies.rules import TableRule, render_path
from nl2sql.errors import PolicyError
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.policy.loading import compile_policy, prepare_database
from serve_app.cli.terminal import CONSOLE

Database = Annotated[str | None, typer.Argument(help="The database; default: the default one.")]


@prints
def check(context: typer.Context, database: Database = None) -> Output:
    """Check the policy file against the database: names, foreign keys and filters."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    compiled = compile_policy(wiring, name)
    counts = {role: _count(list(rules.values())) for role, rules in compiled.roles.items()}
    return Output({"database": name, "roles": counts}, lambda: _print_counts(name, counts))


def _count(rules: Sequence[TableRule]) -> dict[str, int]:
    """How many tables a role sees, and in which way."""
    return {
        "tables": len(rules),
        "whole": sum(rule.is_whole for rule in rules),
        "filtered": sum(rule.filter is not None for rule in rules),
        "inherited": sum(rule.inherits is not None for rule in rules),
        "views": sum(rule.expands for rule in rules),
        "masked_columns": sum(len(rule.masks) for rule in rules),
    }


def _print_counts(name: str, counts: Mapping[str, Mapping[str, int]]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("role", "tables", "whole", "filtered", "inherited", "views", "masked columns"):
        table.add_column(heading)
    for role, numbers in counts.items():
        table.add_row(Text(role), *map(str, numbers.values()))
    CONSOLE.print(table)
    CONSOLE.print(f"[green]✓[/] The policy fits {escape(name)}.", highlight=False)


@prints
def show(
    context: typer.Context,
    database: Database = None,
    role: Annotated[str | None, typer.Option(help="Only this role.")] = None,
) -> Output:
    """Show which rows and columns of each table a role sees, and over which foreign keys."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    compiled = compile_policy(wiring, name)
    if role is not None and role not in compiled.roles:
        raise PolicyError(
            f"There is no role {role!r}.", hint=f"Known: {', '.join(compiled.roles)}."
        )
    found = [_describe_role(compiled, name) for name in ([role] if role else compiled.roles)]

    def render() -> None:
        for described in found:
            CONSOLE.print(_build_table(described))

    return Output({"database": name, "roles": found}, render)


@dataclass(frozen=True, slots=True)
class VisibleTable:
    """What a role sees of a table; ``masked_columns`` are names with the way of masking."""

    table: str
    rows: str
    hidden_columns: list[str]
    masked_columns: dict[str, str]


@dataclass(frozen=True, slots=True)
class VisibleTables:
    """What a role sees of a database of so many tables."""

    role: str
    description: str
    tables: list[VisibleTable]
    tables_in_all: int


def _describe_role(compiled: CompiledPolicy, role: str) -> VisibleTables:
    tables = []
    for name, rule in compiled.roles[role].items():
        shown = {column.name for column in rule.columns}
        hidden = [column.name for column in rule.table.columns if column.name not in shown]
        rows = describe_rows(rule, compiled.catalog.dialect)
        masks = {column: str(mask) for column, mask in rule.masks.items()}
        tables.append(VisibleTable(name, rows, hidden, masks))
    description = compiled.policy.roles[role].description
    return VisibleTables(role, description, tables, len(compiled.catalog.tables))


def _build_table(found: VisibleTables) -> Table:
    hidden = found.tables_in_all - len(found.tables)
    table = Table(
        box=box.SIMPLE_HEAD,
        title=Text(f"{found.role}: {found.description}"),
        caption=f"{hidden} of {found.tables_in_all} tables are hidden from this role.",
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("table", "rows", "hidden columns", "masked columns"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "table")
    for seen in found.tables:
        masks = (f"{column} ({mask})" for column, mask in seen.masked_columns.items())
        cells = (seen.table, seen.rows, ", ".join(seen.hidden_columns), ", ".join(masks))
        table.add_row(*map(Text, cells))
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
