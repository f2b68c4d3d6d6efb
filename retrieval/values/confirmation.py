"""Confirms with a guarded query that a principal may see certain values.

The query is built as a tree, so that no value can become SQL, and goes through the guard and the
executor like any candidate: it returns the values in the rows that the principal may see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.errors import QuorumError
from nl2sql.protocols import Executor, Guard
from nl2sql.types import Diagnostic, Principal, Violation

_TIMEOUT_S = 0.5


async def confirm_values(
    guard: Guard,
    executor: Executor,
    *,
    database: str,
    dialect: str,
    principal: Principal,
    table: Table,
    column: str,
    values: Collection[str],
) -> frozenset[str]:
    """Those of the values that are in the rows that the principal may see.

    Empty if the query is refused, fails or takes longer than half a second.
    """
    sql = _build_query(table, column, sorted(values), dialect)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            query = await guard.guard(database, sql, principal)
            if isinstance(query, Violation):
                return frozenset()
            result = await executor.execute(query, len(values))
    except (TimeoutError, QuorumError):
        return frozenset()
    if isinstance(result, Diagnostic):
        return frozenset()
    return frozenset(str(row[0]) for row in result.rows) & frozenset(values)


def _build_query(table: Table, column: str, values: list[str], dialect: str) -> str:
    """The query for those of ``values`` that the column contains.

    >>> from nl2sql.catalog import Column
    >>> cust = Table("s", "Cust", (Column("city", "text"),))
    >>> print(_build_query(cust, "city", ["O'Fallon"], "postgres"))
    SELECT DISTINCT "city" FROM "s"."Cust" WHERE "city" IN ('O\'\'Fallon')
    """
    named = exp.column(column, quoted=True)
    return (
        exp.select(named)
        .distinct()
        .from_(exp.table_(table.name, db=table.schema, quoted=True))
        .where(named.copy().isin(*(exp.Literal.string(value) for value in values)))
        .sql(dialect=dialect)
    )
