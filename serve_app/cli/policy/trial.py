"""``policy test``: shows what a principal sees of each table, or as the result of a query."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich import box
from rich.syntax import Syntax
from rich.table import Table

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import guard_query
from execution.policies.access import Access, open_access
from nl2sql.sql.names import enquote
from nl2sql.types import Diagnostic, GuardedQuery, Principal, Violation
from serve_app.cli.context import CliContext
from serve_app.cli.policy.loading import compile_policy, find_access, prepare_database
from serve_app.cli.policy.rules import Database
from serve_app.cli.terminal import CONSOLE

_MOST_ROWS = 20


def try_access(
    context: typer.Context,
    database: Database = None,
    as_: Annotated[str, typer.Option("--as", help="The principal; default: the local one.")] = "",
    sql: Annotated[
        str, typer.Option(help="A query to guard and run; default: count the rows of each table.")
    ] = "",
) -> None:
    """Count the rows that a principal sees of each table, or guard and run one query as it."""
    cli: CliContext = context.obj
    wiring, name = prepare_database(cli, database)
    compiled = compile_policy(wiring, name)
    principal = cli.settings.identity.principal(as_)
    access = find_access(compiled, principal)
    executor = ReadOnlyExecutor(wiring.build_databases())
    if sql:
        passed = asyncio.run(_run_query(executor, access, sql))
        raise typer.Exit(0 if passed else 2)
    # Under row-level security no query sees all rows.
    secured = cli.settings.databases[name].row_level_security
    whole = None if secured else open_access(compiled.catalog)
    asyncio.run(_count_tables(executor, access, whole, principal))


async def _run_query(executor: ReadOnlyExecutor, access: Access, sql: str) -> bool:
    try:
        verdict = guard_query(sql, access)
        if isinstance(verdict, Violation):
            CONSOLE.print(f"[red]Refused[/] ({verdict.code}): {verdict.message}", highlight=False)
            return False
        _print_guarded(verdict)
        result = await executor.execute(verdict, _MOST_ROWS)
    finally:
        await executor.close()
    if isinstance(result, Diagnostic):
        CONSOLE.print(f"[red]{result.sqlstate}[/]: {result.message}", highlight=False)
        return False
    table = Table(box=box.SIMPLE_HEAD)
    for column in result.columns:
        table.add_column(column)
    for row in result.rows:
        table.add_row(*("" if value is None else str(value) for value in row))
    CONSOLE.print(table)
    if result.truncated:
        CONSOLE.print(f"[dim]The first {_MOST_ROWS} rows.[/]")
    return True


def _print_guarded(query: GuardedQuery) -> None:
    CONSOLE.print(Syntax(query.sql, "sql", word_wrap=True))
    for predicate in query.predicates:
        CONSOLE.print(f"  [dim]only rows of[/] {predicate}", highlight=False)
    for number, value in enumerate(query.params, start=1):
        CONSOLE.print(f"  [dim]${number} =[/] {value!r}", highlight=False)


async def _count_tables(
    executor: ReadOnlyExecutor, access: Access, whole: Access | None, principal: Principal
) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("table")
    table.add_column(f"rows for {principal.name}", justify="right")
    views = [access] if whole is None else [access, whole]
    if whole is not None:
        table.add_column("rows in all", justify="right")
    try:
        for counted in access.catalog.tables:
            sql = f"SELECT count(*) FROM {enquote(counted.schema)}.{enquote(counted.name)}"
            counts = [await _count(executor, sql, view) for view in views]
            table.add_row(counted.qualified, *counts)
    finally:
        await executor.close()
    CONSOLE.print(table)


async def _count(executor: ReadOnlyExecutor, sql: str, access: Access) -> str:
    verdict = guard_query(sql, access)
    if isinstance(verdict, Violation):
        return verdict.code
    result = await executor.execute(verdict, 1)
    return result.sqlstate if isinstance(result, Diagnostic) else f"{result.rows[0][0]:,}"
