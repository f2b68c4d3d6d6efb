"""Finds cell values that a question names, as far as its principal may be told of them.

A value of an open column (every stored value may be seen) is told at once. Any other is told only
when a guarded query, run for this principal, gave it back; until then it counts for nothing. Hidden
and masked columns are never open, and the guard refuses or masks them.

Does not hide how long that took: a principal with a clock may learn that some row somewhere holds a
word, though not which. Of values that are only similar to a phrase, those withheld may crowd out
others (``dictionary.py`` compares forty); nothing of them is told by that.
"""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.catalog import Catalog
from nl2sql.concurrency import gather_all
from nl2sql.errors import IndexUnavailable
from nl2sql.protocols import Executor, Guard, Visibility
from nl2sql.sql.threads import read_aside
from nl2sql.types import Question, ValueMatch
from nl2sql.words import split_words
from retrieval.index_store.value_column import ValueColumn
from retrieval.per_catalog import PerCatalog
from retrieval.values.confirmation import confirm_values
from retrieval.values.memory import ValueMemory
from retrieval.values.normal_form import fold_word, fold_words
from retrieval.values.phrases import find_phrases
from retrieval.values.selection import Found, find_values, select_values

# Of columns that are not open: queries a question, and values a query.
_MOST_QUERIES = 8
_MOST_CONFIRMED = 20
# How many times more matches come back than a prompt may show: which of them stand in retrieved
# tables, only the retriever knows.
_DEPTH = 6


class IndexedValueSearch:
    """The value search over the value index."""

    def __init__(
        self,
        memory: ValueMemory,
        visibility: Visibility,
        guard: Guard,
        executor: Executor,
        *,
        limit: int,
    ) -> None:
        """``limit`` is how many values a prompt may show."""
        self._memory = memory
        self._visibility = visibility
        self._guard = guard
        self._executor = executor
        self._limit = limit
        self._schema_words = PerCatalog(_collect_words)

    async def match(self, question: Question, catalog: Catalog) -> tuple[ValueMatch, ...]:
        """At most six times ``limit`` matches, best first; ``catalog`` is the visible one.

        Empty where the values are not indexed or the index does not answer: a question is answered
        without them. Raises PolicyError.
        """
        try:
            dictionary = await self._memory.dictionary(question.database)
            opened = await self._visibility.open_columns(question.database, question.principal)
        except IndexUnavailable:
            return ()
        if dictionary is None or not self._limit:
            return ()

        def may_look(column: ValueColumn) -> bool:
            table = catalog.table(column.table)
            return table is not None and table.column(column.column) is not None

        def is_open(column: ValueColumn) -> bool:
            return (opened is None or column.qualified in opened) and may_look(column)

        # Beside the event loop: texts like a phrase are looked for among all values.
        found = await read_aside(
            find_values, dictionary, find_phrases(question.search_text), may_look, is_open
        )
        if opened is not None:
            found = await self._withhold(found, opened, question, catalog)
        return select_values(
            found,
            self._schema_words.of(catalog),
            frozenset(fold_words(question.search_text)),
            self._limit * _DEPTH,
        )

    async def _withhold(
        self,
        found: Sequence[Found],
        opened: frozenset[str],
        question: Question,
        catalog: Catalog,
    ) -> list[Found]:
        """Those that this principal may be told."""
        told = [each for each in found if each.hit.column.qualified in opened]
        asked: dict[str, list[Found]] = {}
        for each in sorted(found, key=lambda each: -each.score):
            if each.hit.column.qualified not in opened:
                asked.setdefault(each.hit.column.qualified, []).append(each)
        columns = list(asked.values())[:_MOST_QUERIES]
        confirmed = await gather_all(
            self._confirm(matches, question, catalog) for matches in columns
        )
        for matches, values in zip(columns, confirmed, strict=True):
            told += [each for each in matches if each.hit.value in values]
        return told

    async def _confirm(
        self, matches: Sequence[Found], question: Question, catalog: Catalog
    ) -> frozenset[str]:
        column = matches[0].hit.column
        table = catalog.table(column.table)
        assert table is not None
        values = list(dict.fromkeys(each.hit.value for each in matches))[:_MOST_CONFIRMED]
        return await confirm_values(
            self._guard,
            self._executor,
            database=question.database,
            dialect=catalog.dialect,
            principal=question.principal,
            table=table,
            column=column.column,
            values=values,
        )


def _collect_words(catalog: Catalog) -> frozenset[str]:
    """The words of all names of schemas, tables and columns."""
    names = {name for table in catalog.tables for name in (table.schema, table.name)}
    names |= {column.name for table in catalog.tables for column in table.columns}
    return frozenset(fold_word(word) for name in names for word in split_words(name))
