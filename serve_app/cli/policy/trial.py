"""``policy test``: shows what a principal sees of each table, or as the result of a query."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import typer
from rich import box
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import guard_query
from execution.policies.access import Access, open_access
from nl2sql.sql.names import enquote
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, prints
from serve_app.cli.policy.loading import compile_policy, find_access, prepare_database
from serve_app.cli.policy.rules import Database
from serve_app.cli.safe_text import safe_cell
from serve_app.cli.terminal import CONSOLE

_MOST_ROWS = 20
# The exit code if the query was refused or failed.
_NOT_RUN = 2


@dataclass(frozen=True, slots=True)
class TableCounts:
    """How many rows of a table a principal sees, and how many there are (None: not counted).

    A count that failed is the violation's code or the SQLSTATE.
    """

    table: str
    visible: int | str
    in_all: int | str | None


@prints
def try_access(
    context: typer.Context,
    database: Database = None,
    as_: Annotated[str, typer.Option("--as", help="The principal; default: the local one.")] = "",
    sql: Annotated[
        str, typer.Option(help="A query to guard and run; default: count the rows of each table.")
    ] = "",
) -> Output:
    """Count the rows that a principal sees of each table, or guard and run one query as it."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    compiled = compile_policy(wiring, name)
    principal = cli.settings.identity.principal(as_)
    access = find_access(compiled, principal)
    executor = ReadOnlyExecutor(wiring.build_databases())
    if sql:
        return asyncio.run(_run_query(executor, access, sql))
    # Under row-level security no query sees all rows.
    secured = cli.settings.databases[name].row_level_security
    whole = None if secured else open_access(compiled.catalog)
    counts = asyncio.run(_count_tables(executor, access, whole))
    document = {"database": name, "principal": principal.name, "tables": counts}
    return Output(document, lambda: _print_counts(counts, principal))


async def _run_query(executor: ReadOnlyExecutor, access: Access, sql: str) -> Output:
    verdict = guard_query(sql, access)
    if isinstance(verdict, Violation):
        refused = {"outcome": "refused", "code": verdict.code, "reason": verdict.message}
        return Output(refused, lambda: _print_violation(verdict), _NOT_RUN)
    try:
        result = await executor.execute(verdict, _MOST_ROWS)
    finally:
        await executor.close()
    guarded = {
        "sql": verdict.sql,
        "predicates": verdict.predicates,
        "params": list(verdict.params),
    }
    if isinstance(result, Diagnostic):
        failed = {"outcome": "failed", "code": result.sqlstate, "reason": result.message}
        return Output({**failed, **guarded}, lambda: _print_failed(verdict, result), _NOT_RUN)
    document = {
        "outcome": "answered",
        **guarded,
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows],
        "truncated": result.truncated,
    }
    return Output(document, lambda: _print_result(verdict, result))


def _print_violation(verdict: Violation) -> None:
    told = escape(f"({verdict.code}): {verdict.message}")
    CONSOLE.print(f"[red]Refused[/] {told}", highlight=False)


def _print_failed(query: GuardedQuery, failed: Diagnostic) -> None:
    _print_guarded(query)
    CONSOLE.print(f"[red]{failed.sqlstate}[/]: {escape(failed.message)}", highlight=False)


def _print_result(query: GuardedQuery, result: ResultSet) -> None:
    _print_guarded(query)
    table = Table(box=box.SIMPLE_HEAD)
    for column in result.columns:
        table.add_column(Text(column))
    for row in result.rows:
        table.add_row(*(Text("" if value is None else safe_cell(value)) for value in row))
    CONSOLE.print(table)
    if result.truncated:
        CONSOLE.print(f"[dim]The first {_MOST_ROWS} rows.[/]")


def _print_guarded(query: GuardedQuery) -> None:
    CONSOLE.print(Syntax(query.sql, "sql", word_wrap=True))
    for predicate in query.predicates:
        CONSOLE.print(f"  [dim]only rows of[/] {escape(str(predicate))}", highlight=False)
    for number, value in enumerate(query.params, start=1):
        CONSOLE.print(f"  [dim]${number} =[/] {escape(repr(value))}", highlight=False)


async def _count_tables(
    executor: ReadOnlyExecutor, access: Access, whole: Access | None
) -> list[TableCounts]:
    found = []
    try:
        for counted in access.catalog.tables:
            sql = f"SELECT count(*) FROM {enquote(counted.schema)}.{enquote(counted.name)}"
            visible = await _count(executor, sql, access)
            in_all = None if whole is None else await _count(executor, sql, whole)
            found.append(TableCounts(counted.qualified, visible, in_all))
    finally:
        await executor.close()
    return found


async def _count(executor: ReadOnlyExecutor, sql: str, access: Access) -> int | str:
    verdict = guard_query(sql, access)
    if isinstance(verdict, Violation):
        return verdict.code
    result = await executor.execute(verdict, 1)
    return result.sqlstate if isinstance(result, Diagnostic) else cast(int, result.rows[0][0])


def _print_counts(counts: Sequence[TableCounts], principal: Principal) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("table")
    table.add_column(Text(f"rows for {principal.name}"), justify="right")
    if any(count.in_all is not None for count in counts):
        table.add_column("rows in all", justify="right")
    for count in counts:
        numbers = [count.visible, *([] if count.in_all is None else [count.in_all])]
        shown = (f"{number:,}" if isinstance(number, int) else number for number in numbers)
        table.add_row(Text(count.table), *shown)
    CONSOLE.print(table)
