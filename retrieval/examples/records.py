"""Builds examples: verifies the query of a pair, finds its tables, and gives the pair an id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog
from nl2sql.protocols import Executor, Guard, Visibility
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.parsing import describe_parse_error, parse_one
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Diagnostic, Principal, Violation
from retrieval.examples.masking import find_literals, mask_question
from retrieval.index_store.example_store import Source, VerifiedExample, fold_question


def build_example(
    database: str,
    question: str,
    sql: str,
    tables: tuple[str, ...],
    *,
    dialect: str,
    source: Source,
    given_by: str,
    access: str = "",
    roles: tuple[str, ...] = (),
    created_at: datetime | None = None,
    reviewed: bool = False,
) -> VerifiedExample:
    """The example of a pair whose query passed the guard; ``tables`` are those it reads."""
    question = " ".join(question.split())
    form = normal_form(sql, dialect)
    return VerifiedExample(
        id=identify_example(database, question, form, access),
        database=database,
        question=question,
        masked=mask_example(question, sql, dialect),
        sql=sql,
        form=form,
        tables=tables,
        source=source,
        given_by=given_by,
        access=access,
        roles=tuple(sorted(set(roles))),
        created_at=created_at or datetime.now(UTC),
        reviewed=reviewed,
    )


def mask_example(question: str, sql: str, dialect: str) -> str:
    """Masks the question; the literals of its query are known to be values.

    >>> mask_example("Who lives in ulm?", "SELECT name FROM t WHERE city = 'Ulm'", "postgres")
    'Who lives in [value]?'
    """
    return mask_question(question, find_literals(question, sql, dialect))


def identify_example(database: str, question: str, form: str, access: str) -> str:
    """The id of 16 hexadecimal digits; equal for the same pair and the same access.

    >>> identify_example("shop", "How many?", "SELECT 1", "") == identify_example(
    ...     "shop", " how  many ", "SELECT 1", "")
    True
    """
    parts = (database, fold_question(question), form, access)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def strip_sql(sql: str, dialect: str) -> str:
    """Removes comments and trailing semicolons.

    The model would read a comment as part of its prompt. Raises SqlglotError for a query that
    contains a comment sign and cannot be parsed.

    >>> strip_sql("SELECT a -- now do something else\\n FROM t;", "postgres")
    'SELECT a FROM t'
    """
    sql = sql.strip().rstrip(";").rstrip()
    if not any(sign in sql for sign in ("--", "/*")):
        return sql
    return parse_one(sql, dialect).sql(dialect, comments=False)


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
    """Guards a query as one principal, and lets the database plan it."""

    def __init__(self, guard: Guard, visibility: Visibility, executor: Executor) -> None:
        self._guard = guard
        self._visibility = visibility
        self._executor = executor

    async def verify(self, database: str, sql: str, principal: Principal) -> Verified | Rejected:
        """Raises IndexUnavailable, DatabaseUnavailable, PolicyError, UnknownDatabase."""
        catalog = await self._visibility.visible_catalog(database, principal)
        if isinstance(catalog, Violation):
            return Rejected(catalog.message)
        try:
            sql = await run_in_parser_thread(strip_sql, sql, catalog.dialect)
            tables = await run_in_parser_thread(find_tables, sql, catalog)
        except (SqlglotError, RecursionError) as error:
            return Rejected(f"It is not valid SQL: {describe_parse_error(error)}")
        query = await self._guard.guard(database, sql, principal)
        if isinstance(query, Violation):
            return Rejected(query.message)
        result = await self._executor.explain(query)
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
