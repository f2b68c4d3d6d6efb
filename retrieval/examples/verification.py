"""Verifies a query before it becomes an example: the guard allows it, the database can run it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog
from nl2sql.protocols import Executor, Guard, Visibility
from nl2sql.sql.parsing import describe_parse_error, parse_one
from nl2sql.sql.threads import read_aside
from nl2sql.types import Diagnostic, Principal, Violation
from retrieval.examples.records import strip_sql


@dataclass(frozen=True, slots=True)
class Verified:
    """A query that runs, without its comments; ``tables`` are the qualified tables it names."""

    sql: str
    tables: tuple[str, ...]
    dialect: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a query cannot become an example."""

    reason: str


class Verifier:
    """Guards a query as one principal and lets the database plan it, or run it (``run``)."""

    def __init__(
        self, guard: Guard, visibility: Visibility, executor: Executor, *, run: bool = False
    ) -> None:
        self._guard = guard
        self._visibility = visibility
        self._executor = executor
        self._run = run

    async def verify(self, database: str, sql: str, principal: Principal) -> Verified | Rejected:
        """Raises IndexUnavailable, DatabaseUnavailable, PolicyError, UnknownDatabase."""
        catalog = await self._visibility.visible_catalog(database, principal)
        if isinstance(catalog, Violation):
            return Rejected(catalog.message)
        try:
            sql = await read_aside(strip_sql, sql, catalog.dialect)
            tables = await read_aside(find_tables, sql, catalog)
        except (SqlglotError, RecursionError) as error:
            return Rejected(f"It is not valid SQL: {describe_parse_error(error)}")
        query = await self._guard.guard(database, sql, principal)
        if isinstance(query, Violation):
            return Rejected(query.message)
        result = (
            await self._executor.execute(query, 1)
            if self._run
            else await self._executor.explain(query)
        )
        if isinstance(result, Diagnostic):
            return Rejected(result.message)
        return Verified(sql, tables, catalog.dialect)


def find_tables(sql: str, catalog: Catalog) -> tuple[str, ...]:
    """The tables of ``catalog`` that a query names, qualified and sorted.

    A table that is shadowed by a CTE of the same name is included. Raises SqlglotError.

    >>> from nl2sql.catalog import Table
    >>> shop = Catalog("shop", (Table("sales", "orders", ()),), search_path=("sales",))
    >>> find_tables("WITH o AS (SELECT * FROM orders) SELECT count(*) FROM o", shop)
    ('sales.orders',)
    """
    tree = parse_one(sql, catalog.dialect)
    found = (
        catalog.resolve(
            _read_name(node.this, catalog.dialect), _read_name(node.args.get("db"), catalog.dialect)
        )
        for node in tree.find_all(exp.Table)
    )
    return tuple(sorted({table.qualified for table in found if table is not None}))


def _read_name(node: object, dialect: str) -> str:
    """The name as the database reads it: PostgreSQL folds unquoted names to lower case."""
    if not isinstance(node, exp.Identifier):
        return ""
    return node.name.lower() if dialect == "postgres" and not node.quoted else node.name
