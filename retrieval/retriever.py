"""Retrieval: from a question to the tables that may answer it.

Routes to modules, searches by embedding and keywords, fuses the rankings, expands over foreign
keys, and adds cell values, examples, glosses and definitions. The search itself is limited to what
the principal may see. A new index is used without a restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Catalog
from nl2sql.concurrency import gather_all, task_group
from nl2sql.protocols import Visibility
from nl2sql.settings import FlagSettings, RetrievalSettings
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import (
    CatalogQuery,
    Definition,
    ModuleRoute,
    Principal,
    Question,
    RetrievedTable,
    SchemaContext,
    ValueMatch,
    Violation,
)
from retrieval.embedding.embedder import Embedder, QuestionEmbedder
from retrieval.examples.selector import ExampleSelector
from retrieval.glosses import IndexedGlossary
from retrieval.index_store.store import IndexStore
from retrieval.search.catalog_questions import find_tables, read_request, write_query
from retrieval.search.keywords import DraftNames, read_draft, read_words
from retrieval.search.ranking import Nearest, TableRanking, rank_tables
from retrieval.search.space import SearchSpace, SearchSpaces
from retrieval.semantics.layer import SemanticLayer
from retrieval.values.search import IndexedValueSearch
from retrieval.values.selection import MOST_VALUES, choose_shown
from retrieval.vocabulary.terms import find_business_terms

_T = TypeVar("_T")

# The fewest entries of each ranking, so that fusion can choose.
_DEPTH = 32
# The best tables outside a module that is shown whole: at least so many are shown beside it.
_FEWEST_OTHERS = 7
# Of the best tables; of the others only the columns that are most likely needed are shown.
_SHOWN_IN_FULL = 3
# Tables whose descriptions a question about the database itself reads.
_MOST_DESCRIBED = 100


class HybridRetriever:
    """The retriever over the index store."""

    def __init__(
        self,
        store: IndexStore,
        embedder: Embedder,
        visibility: Visibility,
        settings: RetrievalSettings,
        flags: FlagSettings,
        *,
        values: IndexedValueSearch | None = None,
        examples: ExampleSelector | None = None,
        glossary: IndexedGlossary | None = None,
        definitions: SemanticLayer | None = None,
    ) -> None:
        self._store = store
        self._visibility = visibility
        self._questions = QuestionEmbedder(embedder)
        self._spaces = SearchSpaces(store, embedder)
        self._settings = settings
        self._flags = flags
        self._values = values if flags.value_index else None
        self._examples = examples if settings.examples else None
        self._glossary = glossary if flags.glosses else None
        self._definitions = definitions

    async def retrieve(
        self, question: Question, *, draft: str = ""
    ) -> tuple[ModuleRoute, SchemaContext]:
        """The route, and the tables, most relevant first.

        Nothing that the principal may not see is searched or returned. Raises IndexUnavailable, and
        PolicyError if the policy does not fit the database.
        """
        visible = await self._visibility.visible_catalog(question.database, question.principal)
        if isinstance(visible, Violation):
            return ModuleRoute(), SchemaContext(refusal=visible.message)
        if about := await self._read_catalog_question(question, visible):
            return ModuleRoute(), SchemaContext(dialect=visible.dialect, about=about)
        async with task_group() as group:
            embedding = group.create_task(self._embed(question))
            matching = group.create_task(
                self._values.match(question, visible) if self._values else _give(())
            )
            defining = group.create_task(
                self._definitions.find(question, visible) if self._definitions else _give(())
            )
        vector, values, definitions = embedding.result(), matching.result(), defining.result()
        space, ranking = await self._search(question, visible, vector, values, draft)
        if not visible.tables:
            refusal = f"There is no table in {question.database} that you may see."
            return ModuleRoute(), SchemaContext(refusal=refusal)
        names = [visible.tables[number].qualified for number in ranking.order]
        named = await run_in_parser_thread(read_draft, draft, visible, names)
        shared = self._choose_shared(space, ranking)
        tables = self._choose_tables(space, ranking, named, shared, definitions)
        shown = [hit.table for hit in tables]
        async with task_group() as group:
            examples = group.create_task(
                self._examples.select(question, vector, visible) if self._examples else _give(())
            )
            verified = group.create_task(
                self._examples.find_verified(question, visible, self._values)
                if self._examples
                else _give(None)
            )
            glosses = group.create_task(
                self._glossary.describe(question, shown, visible) if self._glossary else _give(())
            )
        return ranking.route, replace(
            self._build_context(space, tables, shared),
            values=choose_shown(values, shown, MOST_VALUES),
            examples=examples.result(),
            glosses=glosses.result(),
            definitions=definitions,
            verified=verified.result(),
        )

    async def _read_catalog_question(
        self, question: Question, visible: Catalog
    ) -> CatalogQuery | None:
        """The query that answers a question about the database itself; None for all others."""
        request = read_request(question.text) if self._flags.intent_gate else None
        if request is None:
            return None
        tables = await run_in_parser_thread(find_tables, request, visible)
        glosses: tuple[tuple[str, str], ...] = ()
        if tables and self._glossary is not None and request.kind != "rows":
            described = tables[:_MOST_DESCRIBED]
            glosses = await self._glossary.describe(question, described, visible)
        return await run_in_parser_thread(write_query, request, tables, visible, glosses)

    async def list_beginnings(
        self, database: str, principal: Principal
    ) -> tuple[SchemaContext, ...]:
        """The contexts with which this principal's prompts begin: one for each module shown whole.

        A small database is one such context. Raises what ``retrieve`` raises.
        """
        visible = await self._visibility.visible_catalog(database, principal)
        if isinstance(visible, Violation):
            return ()
        space = await self._spaces.find(visible)
        whole = self._list_small_database(space)
        modules = range(0 if whole else len(space.router.names))
        groups = [whole, *(self._list_small_module(space, module) for module in modules)]
        tables = [RetrievedTable(table, 0.0, via="module") for table in visible.tables]
        return tuple(
            self._build_context(space, tuple(tables[number] for number in group), shared=group)
            for group in groups
            if group
        )

    def _build_context(
        self, space: SearchSpace, tables: tuple[RetrievedTable, ...], shared: Sequence[int]
    ) -> SchemaContext:
        """The tables, the keys between them, and their SQL names."""
        visible = space.catalog
        inside = {hit.table.qualified for hit in tables}
        keys = (key for name in sorted(inside) for key in visible.keys_from.get(name, ()))
        return SchemaContext(
            tables=tables,
            foreign_keys=tuple(key for key in keys if key.target in inside),
            names=tuple(visible.short_names[hit.table.qualified] for hit in tables),
            version=space.head.version,
            dialect=visible.dialect,
            catalog_tables=len(visible.tables),
            modules=space.router.names,
            shared=tuple(visible.tables[number].qualified for number in shared),
        )

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Whether the index answers."""
        return await self._store.probe()

    # -- searching -----------------------------------------------------------------------------

    async def _search(
        self,
        question: Question,
        visible: Catalog,
        vector: NDArray[np.float32],
        values: Sequence[ValueMatch],
        draft: str,
    ) -> tuple[SearchSpace, TableRanking]:
        depth = max(self._settings.max_tables, _DEPTH)
        space = await self._spaces.find(visible)
        nearest_tables: Nearest = ()
        nearest_columns: Nearest = ()
        if self._flags.cosine and visible.tables:
            find = partial(self._store.nearest, space.head, vector=vector, limit=depth)
            nearest_tables, nearest_columns = await gather_all(
                (find("table", among=space.shown_tables), find("column", among=space.shown_columns))
            )
        drafted = await run_in_parser_thread(read_draft, draft, visible)
        words = read_words(question.search_text, drafted.words)
        # The order of a database that is shown whole matters little, and changes no prompt.
        chooses = not self._list_small_database(space)
        named = chooses and self._flags.named_tables
        return space, rank_tables(
            space,
            vector,
            words,
            terms=find_business_terms(question.search_text) if named else None,
            nearest_tables=nearest_tables,
            nearest_columns=nearest_columns,
            values=values,
            flags=self._flags,
            depth=depth,
            added=self._settings.fk_expansion_limit if chooses else 0,
        )

    def _choose_tables(
        self,
        space: SearchSpace,
        ranking: TableRanking,
        drafted: DraftNames,
        shared: Sequence[int],
        definitions: Sequence[Definition],
    ) -> tuple[RetrievedTable, ...]:
        """At most ``max_tables``: those of the draft, then the best, the first of them in full.

        The ``shared`` ones count too, and come last if they are not among the best; they displace
        none of the first seven others. The tables of ``definitions`` are added.
        """
        first = [space.numbers[name] for name in drafted.tables if name in space.numbers]
        order = list(dict.fromkeys((*first, *ranking.order)))
        most = self._settings.max_tables
        others = [number for number in order[:most] if number not in shared]
        left_out = others[max(most - len(shared), _FEWEST_OTHERS) :]
        best = [number for number in order[:most] if number not in left_out]
        names = [name for definition in definitions for name in definition.tables]
        defined = [space.numbers[name] for name in names if name in space.numbers]
        in_full = {*order[:_SHOWN_IN_FULL], *first, *defined, *shared}
        via = dict.fromkeys(best, "hit")
        via |= dict.fromkeys(
            (number for number in best if number not in ranking.scores), "foreign_key"
        )
        via |= dict.fromkeys(first, "draft")
        return tuple(
            RetrievedTable(
                table=space.catalog.tables[number],
                score=round(ranking.scores.get(number, 0.0), 6),
                cosine_rank=ranking.cosine_ranks.get(number),
                bm25_rank=ranking.keyword_ranks.get(number),
                cosine=ranking.cosines.get(number),
                via=via.get(number, "definition" if number in defined else "module"),
                columns=ranking.columns.get(number, ()),
                short=number not in in_full,
            )
            for number in dict.fromkeys((*best, *defined, *shared))
        )

    def _choose_shared(self, space: SearchSpace, ranking: TableRanking) -> list[int]:
        """All tables of a small database, or else those of the best table's module, if small.

        So prompts about the same module begin alike, and the engine's prefix cache serves them.
        """
        if (whole := self._list_small_database(space)) or not ranking.order:
            return whole
        return self._list_small_module(space, int(space.router.module_of[ranking.order[0]]))

    def _list_small_database(self, space: SearchSpace) -> list[int]:
        """All tables if they are few enough to be shown whole, or else none."""
        count = len(space.catalog.tables)
        return list(range(count)) if count <= self._settings.whole_tables else []

    def _list_small_module(self, space: SearchSpace, module: int) -> list[int]:
        """The module's tables if they leave a third of ``max_tables`` to others, or else none."""
        tables: list[int] = np.flatnonzero(space.router.module_of == module).tolist()
        most = min(self._settings.whole_tables, self._settings.max_tables * 2 // 3)
        return tables if len(tables) <= most else []

    async def _embed(self, question: Question) -> NDArray[np.float32]:
        """The question's vector; empty if nothing uses it."""
        if not self._flags.cosine and self._examples is None:
            return np.zeros(0, dtype=np.float32)
        return await self._questions.embed(question.search_text)


async def _give(value: _T) -> _T:
    """In place of a part that is switched off."""
    return value
