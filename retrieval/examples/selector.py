"""Selects the examples for a question: similar in form, and visible to the principal.

Two checks decide whether a principal may see an example:

1. The store's query leaves out examples whose roles the principal has none of and, if the policy
   hides any part of the database from anybody, feedback that was given under another access,
   because its questions may name values.
2. The guard must allow the example's query for this principal.

A query with parameters is used only with values that the principal may see: of a column that is not
open to the principal, its default is no example, and only the values that a question says are used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar
from weakref import ref

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog
from nl2sql.languages.context import continues_another
from nl2sql.protocols import Guard, Visibility
from nl2sql.settings import RetrievalSettings
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import FewShot, Principal, Question, TrialFix, VerifiedQuery, Violation
from retrieval.embedding.embedder import Embedder, QuestionEmbedder
from retrieval.examples.matching import list_schema_words, match_pattern
from retrieval.examples.pairs import Pair, read_pattern
from retrieval.examples.records import mask_example, mask_question, name_vectors
from retrieval.index_store.example_store import (
    ExampleScope,
    ExampleStore,
    build_access_key,
    fold_question,
)
from retrieval.index_store.store import IndexStore
from retrieval.per_catalog import PerCatalog
from retrieval.values.search import IndexedValueSearch

# Examples read for each one wanted: some repeat a query, some are refused by the guard.
_DEPTH = 6
_MOST_PAGES = 5
_MOST_VERDICTS = 10_000

_LOG = logging.getLogger("quorumsql")
_Result = TypeVar("_Result")


class _Asker(NamedTuple):
    """A question with what its principal may see: ``opened`` columns (None: all), and examples."""

    question: Question
    catalog: Catalog
    scope: ExampleScope
    opened: Collection[str] | None

    def sees(self, column: str) -> bool:
        """Whether it may see all values of the column."""
        return self.opened is None or column in self.opened


class ExampleSelector:
    """Finds the examples for a question."""

    def __init__(
        self,
        store: IndexStore,
        embedder: Embedder,
        guard: Guard,
        visibility: Visibility,
        settings: RetrievalSettings,
    ) -> None:
        self._examples = ExampleStore(store)
        self._vectors = name_vectors(embedder.name)
        self._questions = QuestionEmbedder(embedder)
        self._guard = guard
        self._visibility = visibility
        self._settings = settings
        self._schema_words = PerCatalog(list_schema_words)
        # By access, until the catalog changes. A weak reference, so that a replaced catalog is not
        # kept for principals who left.
        self._verdicts: LRUCache[tuple[str, str, str], tuple[ref[Catalog], bool]] = LRUCache(
            _MOST_VERDICTS
        )

    async def select(
        self, question: Question, vector: NDArray[np.float32], catalog: Catalog
    ) -> tuple[FewShot, ...]:
        """At most ``retrieval.examples`` examples, best first, no two with the same query.

        ``vector`` is the embedding of the unmasked question, ``catalog`` what the principal may
        see. Raises IndexUnavailable, PolicyError.
        """
        wanted = self._settings.examples
        if not wanted or (asker := await self._find_asker(question, catalog)) is None:
            return ()
        masked = mask_question(question.text)
        if masked != question.search_text:
            vector = await self._questions.embed(masked)
        found = await self._choose(asker, vector, wanted)
        if question.trial is None or not question.trial.sql:
            return found
        return await self._add_tried(asker, question.trial, vector, found)

    async def _add_tried(
        self, asker: _Asker, fix: TrialFix, vector: NDArray[np.float32], found: tuple[FewShot, ...]
    ) -> tuple[FewShot, ...]:
        """The examples as they would be if that of the fix were stored."""
        dialect = asker.catalog.dialect
        masked = await run_in_parser_thread(mask_example, fix.question, fix.sql, dialect)
        cosine = float(vector @ await self._questions.embed(masked))
        if (
            cosine < self._settings.example_min_similarity
            or fold_question(fix.question) == fold_question(asker.question.text)
            or not await self._passes(asker, fix.sql)
        ):
            return found
        tried = FewShot(fix.question, fix.sql, round(cosine, 4))
        others = (each for each in found if each.sql != fix.sql)
        ranked = sorted((tried, *others), key=lambda each: -each.similarity)
        return tuple(ranked[: self._settings.examples])

    async def list_latest(
        self, database: str, principal: Principal, catalog: Catalog, most: int
    ) -> tuple[FewShot, ...]:
        """At most ``most`` verified examples that the principal may see, the latest first.

        Their questions are answered by their queries; no two have the same query.

        Raises IndexUnavailable, PolicyError.
        """
        question = Question("", database, principal, k=1, seed=0, max_rows=1)
        asker = await self._find_asker(question, catalog)
        return await self._choose(asker, None, most) if asker else ()

    async def _choose(
        self, asker: _Asker, vector: NDArray[np.float32] | None, wanted: int
    ) -> tuple[FewShot, ...]:
        least = self._settings.example_min_similarity
        chosen: dict[str, FewShot] = {}
        seen: set[str] = set()
        limit = wanted * _DEPTH
        for _ in range(_MOST_PAGES):
            page = await self._examples.find(asker.scope, vector, limit, seen)
            for example in page:
                seen.add(example.form)
                if vector is not None and example.cosine < least:
                    return tuple(chosen.values())
                if example.form not in chosen and await self._passes(
                    asker, example.sql, example.pattern
                ):
                    chosen[example.form] = FewShot(
                        example.question, example.sql, round(example.cosine, 4)
                    )
                    if len(chosen) == wanted:
                        return tuple(chosen.values())
            if len(page) < limit:
                break
        return tuple(chosen.values())

    async def find_verified(
        self, question: Question, catalog: Catalog, values: IndexedValueSearch | None = None
    ) -> VerifiedQuery | None:
        """The latest query that was given for this very question; None if there is none.

        It is one of an import, the principal's own feedback, or that of a reviewer. If there is
        none, one with parameters that the question means with other values; ``values`` finds those
        of a column. The evidence of a question no example knows of, and none knows what a question
        continues. Raises IndexUnavailable, PolicyError.
        """
        if question.evidence or question.trial is not None or not self._settings.examples:
            return None
        if question.continues or continues_another(question.text):
            return None
        asker = await self._find_asker(question, catalog)
        if asker is None:
            return None
        folded = fold_question(question.text)
        for pattern, query in await self._examples.find_verified(asker.scope, folded):
            if await self._passes(asker, query.sql, pattern):
                return query
        return await self._find_with_values(asker, values) if self._settings.same_question else None

    async def _find_with_values(
        self, asker: _Asker, values: IndexedValueSearch | None
    ) -> VerifiedQuery | None:
        question, catalog = asker.question, asker.catalog
        found = [
            (given, pair)
            for given in await self._examples.find_patterns(asker.scope)
            if (pair := _attempt(given.title, partial(read_pattern, given.sql)))
        ]
        columns = {column for _, pair in found for column in pair.columns.values()}
        said = await values.find_in(question, catalog, columns) if values and columns else ()
        shown = {(f"{each.table}.{each.column}", each.value) for each in said}
        words = self._schema_words.of(catalog)

        def match(given: VerifiedQuery, pair: Pair) -> VerifiedQuery | None:
            bound = match_pattern(question.text, pair, said, words)
            if bound is None or not all(
                asker.sees(column) or (column, bound[name]) in shown
                for name, column in pair.columns.items()
            ):
                return None
            sql = pair.bind(bound, catalog.dialect)
            return replace(given, sql=sql, parameters=tuple(bound.items()))

        def match_all() -> list[VerifiedQuery | None]:
            return [_attempt(given.title, partial(match, given, pair)) for given, pair in found]

        for query in filter(None, await run_in_parser_thread(match_all)):
            is_wrong = await self._examples.is_called_wrong(question, query.sql, query.given_at)
            if not is_wrong and await self._passes(asker, query.sql):
                return query
        return None

    async def _passes(self, asker: _Asker, sql: str, pattern: str = "") -> bool:
        """Whether the principal may run the query, and see the defaults in its pattern."""
        question, catalog = asker.question, asker.catalog
        if pattern:
            pair = _attempt(question.database, partial(read_pattern, pattern))
            if pair is None or not all(map(asker.sees, pair.columns.values())):
                return False
        key = (question.database, asker.scope.access, sql)
        known = self._verdicts.get(key)
        if known is None or known[0]() is not catalog:
            query = await self._guard.guard(question.database, sql, question.principal)
            self._verdicts[key] = known = (ref(catalog), not isinstance(query, Violation))
        return known[1]

    async def _find_asker(self, question: Question, catalog: Catalog) -> _Asker | None:
        """None if no example can be found; then the question is not embedded."""
        principal = question.principal
        opened = await self._visibility.open_columns(question.database, principal)
        if not await self._examples.has_any(question.database):
            return None
        same = self._settings.same_question and question.trial is None
        scope = ExampleScope(
            database=question.database,
            embedder=self._vectors,
            sees_all=opened is None,
            access=build_access_key(principal),
            principal=principal.name,
            roles=principal.roles,
            not_folded=None if same else fold_question(question.text),
        )
        return _Asker(question, catalog, scope, opened)


def _attempt(name: str, use: Callable[[], _Result]) -> _Result | None:
    """What comes of a stored query; None if it is invalid, so that others can still be used."""
    try:
        return use()
    except (ValueError, LookupError, SqlglotError, RecursionError) as error:
        _LOG.warning("A verified query is invalid (%s): %s", name, type(error).__name__)
        return None
