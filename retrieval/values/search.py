"""Finds cell values in a question, limited to those that its principal may see.

A value of an open column (the principal may see all its values) is returned at once. Any other
value is returned only if a guarded query, run for this principal, returns it; until then it has no
effect. That query is built as a tree, so that no value can become SQL. Hidden and masked columns
are never open, and the guard refuses or masks them.

The time taken is not hidden: a principal who measures it may learn that some row contains a word,
but not which row. Hidden values that are similar to a phrase may displace others, because
``dictionary.py`` compares at most forty; this reveals nothing about them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from sqlglot import exp

from nl2sql.catalog import Catalog, Table
from nl2sql.concurrency import gather_all
from nl2sql.errors import IndexUnavailable, QuorumError
from nl2sql.protocols import Executor, Guard, Visibility
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Diagnostic, ExecutionLimits, Question, ValueMatch, Violation
from retrieval.index_store.value_store import ValueColumn
from retrieval.per_catalog import PerCatalog
from retrieval.values.dictionary import ALIAS_SCORE, FoundValue, ValueMemory
from retrieval.values.phrases import find_phrases, fold_words
from retrieval.values.selection import (
    MOST_VALUES,
    collect_words,
    find_values,
    select_values,
)

# The limits of a query for a principal's own values; it waits a while for its turn, too.
_LIMITS = ExecutionLimits(timeout_ms=500, result_bytes=64 * 1024)
_TIMEOUT_S = 1.0

# For columns that are not open: queries for a question, and values in a query.
_MOST_QUERIES = 8
_MOST_CONFIRMED = 20
# Matches returned for each one that a prompt may show, since some are not in retrieved tables.
_DEPTH = 6


class IndexedValueSearch:
    """Searches the value index."""

    def __init__(
        self,
        memory: ValueMemory,
        visibility: Visibility,
        guard: Guard,
        executor: Executor,
    ) -> None:
        self._memory = memory
        self._visibility = visibility
        self._guard = guard
        self._executor = executor
        self._schema_words = PerCatalog(lambda catalog: collect_words(catalog.tables))

    async def match(self, question: Question, catalog: Catalog) -> tuple[ValueMatch, ...]:
        """At most six times ``MOST_VALUES`` matches, best first; ``catalog`` is the visible one.

        Empty if the values are not indexed or the index does not answer, since questions can be
        answered without values. Raises PolicyError.
        """
        return select_values(
            await self._find(question, catalog),
            self._schema_words.of(catalog),
            frozenset(fold_words(question.search_text)),
            MOST_VALUES * _DEPTH,
        )

    async def find_in(
        self, question: Question, catalog: Catalog, columns: Collection[str]
    ) -> tuple[ValueMatch, ...]:
        """All values of these columns (``schema.table.column``) that the question's words are.

        No similar ones. Raises PolicyError.
        """
        found = await self._find(question, catalog, columns)
        return tuple(each.build_match() for each in found if each.score >= ALIAS_SCORE)

    async def _find(
        self, question: Question, catalog: Catalog, columns: Collection[str] | None = None
    ) -> Sequence[FoundValue]:
        """What the principal may see of the values of all columns, or of these."""
        try:
            dictionary = await self._memory.dictionary(catalog.database)
            opened = await self._visibility.open_columns(question.database, question.principal)
        except IndexUnavailable:
            return ()

        def is_visible(column: ValueColumn) -> bool:
            table = catalog.table(column.table)
            is_wanted = columns is None or column.qualified in columns
            return is_wanted and table is not None and table.column(column.column) is not None

        def is_open(column: ValueColumn) -> bool:
            return (opened is None or column.qualified in opened) and is_visible(column)

        # Not in the event loop, as similar texts are searched among all values.
        found = await run_in_parser_thread(
            find_values, dictionary, find_phrases(question.search_text), is_visible, is_open
        )
        if opened is not None:
            found = await self._keep_permitted(found, opened, question, catalog)
        return found

    async def _keep_permitted(
        self,
        found: Sequence[FoundValue],
        opened: frozenset[str],
        question: Question,
        catalog: Catalog,
    ) -> list[FoundValue]:
        """The matches that this principal may see."""
        permitted = [match for match in found if match.column.qualified in opened]
        unconfirmed: dict[str, list[FoundValue]] = {}
        for match in sorted(found, key=lambda match: -match.score):
            if match.column.qualified not in opened:
                unconfirmed.setdefault(match.column.qualified, []).append(match)
        columns = list(unconfirmed.values())[:_MOST_QUERIES]
        confirmed = await gather_all(
            self._confirm(matches, question, catalog) for matches in columns
        )
        for matches, values in zip(columns, confirmed, strict=True):
            permitted += [match for match in matches if match.value in values]
        return permitted

    async def _confirm(
        self, matches: Sequence[FoundValue], question: Question, catalog: Catalog
    ) -> frozenset[str]:
        column = matches[0].column
        table = catalog.table(column.table)
        assert table is not None
        values = list(dict.fromkeys(match.value for match in matches))[:_MOST_CONFIRMED]
        sql = _build_query(table, column.column, catalog.dialect, sorted(values))
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                query = await self._guard.guard(question.database, sql, question.principal)
                if isinstance(query, Violation):
                    return frozenset()
                result = await self._executor.execute(query, len(values), _LIMITS)
        except (TimeoutError, QuorumError):
            return frozenset()
        if isinstance(result, Diagnostic):
            return frozenset()
        return frozenset(str(row[0]) for row in result.rows).intersection(values)


def _build_query(table: Table, column: str, dialect: str, values: Sequence[str]) -> str:
    """The query for those of the values that the column contains, as texts like those indexed.

    >>> from nl2sql.catalog import Column
    >>> cust = Table("s", "Cust", (Column("city", "text"),))
    >>> print(_build_query(cust, "city", "postgres", ["O'Fallon"]))
    SELECT DISTINCT CAST("city" AS TEXT) FROM "s"."Cust" WHERE "city" IN ('O\'\'Fallon')
    """
    named = exp.column(column, quoted=True)
    query = exp.select(exp.cast(named, "text")).distinct()
    query = query.from_(exp.table_(table.name, db=table.schema, quoted=True))
    return query.where(named.copy().isin(*map(exp.Literal.string, values))).sql(dialect=dialect)
