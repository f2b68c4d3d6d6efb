"""Guarded queries made by hand, for tests of what stands behind the guard."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import postgast

from execution.postgres.second_check import list_functions
from nl2sql.types import GuardedQuery

TABLES = (
    "hr.employees",
    "lab.people",
    "lab2.people",
    "pg_catalog.pg_authid",
    "public.words",
    "sales.orders",
)


def trust(
    database: str, sql: str, *, tables: tuple[str, ...] = TABLES, **options: Any
) -> GuardedQuery:
    """The query, as if the guard had allowed all that it calls, and to read ``tables``."""
    try:
        functions = tuple(sorted(list_functions(sql)))
    except postgast.PgQueryError:
        functions = ()
    return GuardedQuery(database, sql, tables, functions=functions, **options)


_SECOND_PART = re.compile(r" UNION ALL SELECT (?:(?! UNION ALL ).)*? WHERE FALSE(?= OFFSET 0)")


def remove_half(query: GuardedQuery) -> GuardedQuery:
    """The query without the set operations of its security barriers, which PostgreSQL needs."""
    sql = _SECOND_PART.sub("", query.sql)
    return query if sql == query.sql else remove_half(replace(query, sql=sql))


def remove_barrier(query: GuardedQuery) -> GuardedQuery:
    """The query without its security barriers, which the guard never makes."""
    barrier = r"(( ORDER BY( _qsql_0\S+)+)? LIMIT -1)? OFFSET 0"
    return replace(query, sql=re.sub(barrier, "", remove_half(query).sql))
