"""Stages 1 and 2: routes to modules, searches both ways, fuses, expands over foreign keys.

Keeps each database's catalog, keyword ranking and module centroids in memory, and reads them again
when the version that comes back with a vector search is a new one: a running service notices a
re-index by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable
from nl2sql.protocols import Visibility
from nl2sql.settings import FlagSettings, RetrievalSettings
from nl2sql.types import ModuleRoute, Question, RetrievedTable, SchemaContext, Violation
from retrieval.bm25 import KeywordRanking
from retrieval.embedder import Embedder
from retrieval.fk_expansion import expand_by_foreign_keys
from retrieval.fusion import fuse_rankings
from retrieval.index_store.store import IndexStore
from retrieval.module_router import ModuleRouter
from retrieval.question_embedder import QuestionEmbedder

# Each ranking is read this many times deeper than the tables wanted, so that fusion can choose.
_DEPTH = 4

_NO_ROUTE = ModuleRoute((), "off", ())


@dataclass(frozen=True, slots=True)
class _Searchable:
    """All that searching one database needs, for one version of its index."""

    tables: frozenset[str]
    version: str
    keywords: KeywordRanking
    router: ModuleRouter


class HybridRetriever:
    """The retriever over the index store."""

    def __init__(
        self,
        store: IndexStore,
        embedder: Embedder,
        visibility: Visibility,
        settings: RetrievalSettings,
        flags: FlagSettings,
    ) -> None:
        self._store = store
        self._visibility = visibility
        self._embedder = embedder
        self._questions = QuestionEmbedder(embedder)
        self._settings = settings
        self._flags = flags
        self._loaded: dict[str, _Searchable] = {}

    async def retrieve(
        self, question: Question, *, sketch: str = ""
    ) -> tuple[ModuleRoute, SchemaContext]:
        """The route, and the tables in falling order of relevance.

        Only of what the principal may see: nothing else is searched, shown or told. Raises
        IndexUnavailable, and PolicyError where the policy does not fit the database.
        """
        database = question.database
        visible = await self._visibility.visible_catalog(database, question.principal)
        if isinstance(visible, Violation):
            return _NO_ROUTE, SchemaContext((), (), (), refusal=visible.message)
        vector = await self._questions.embed(question.search_text)
        depth = self._settings.max_tables * _DEPTH
        searchable = await self._searchable(database)
        names = {table.qualified for table in visible.tables}
        among = None if names >= searchable.tables else names
        nearest, version = await self._store.nearest(database, vector, depth, among)
        if version != searchable.version:
            self._loaded.pop(database, None)
            searchable = await self._searchable(database)
            nearest, _ = await self._store.nearest(database, vector, depth, among)
        words = question.search_text
        keywords = searchable.keywords.rank(words, depth, among) if self._flags.bm25 else []
        route = (
            _restrict_route(searchable.router.route(words, vector), visible)
            if self._flags.module_router
            else _NO_ROUTE
        )
        return route, self._build_context(visible, searchable.version, route, nearest, keywords)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Whether the index answers."""
        return await self._store.probe()

    def _build_context(
        self,
        catalog: Catalog,
        version: str,
        route: ModuleRoute,
        nearest: list[tuple[str, float]],
        keywords: list[str],
    ) -> SchemaContext:
        cosines = dict(nearest)
        by_cosine = list(cosines)
        by_module = [name for name in by_cosine if name.split(".")[0] in route.modules]
        scores = fuse_rankings([by_cosine, keywords, by_module])
        found = list(scores)[: self._settings.max_tables]
        neighbours = expand_by_foreign_keys(
            found, catalog.foreign_keys, self._settings.fk_expansion_limit
        )
        cosine_ranks = {name: rank for rank, name in enumerate(by_cosine, start=1)}
        keyword_ranks = {name: rank for rank, name in enumerate(keywords, start=1)}
        tables = tuple(
            RetrievedTable(
                table=table,
                score=round(scores.get(name, 0.0), 6),
                cosine_rank=cosine_ranks.get(name),
                bm25_rank=keyword_ranks.get(name),
                cosine=cosines.get(name),
                via="hit" if name in found else "foreign_key",
            )
            for name in found + neighbours
            if (table := catalog.table(name)) is not None
        )
        inside = {hit.table.qualified for hit in tables}
        return SchemaContext(
            tables=tables,
            foreign_keys=tuple(
                key for key in catalog.foreign_keys if {key.table, key.target} <= inside
            ),
            names=tuple(catalog.short_names[hit.table.qualified] for hit in tables),
            version=version,
            dialect=catalog.dialect,
        )

    async def _searchable(self, database: str) -> _Searchable:
        if database not in self._loaded:
            index = await self._store.load(database)
            if index is None:
                raise IndexUnavailable(
                    f"The database {database!r} has not been indexed.",
                    hint=f"Run `quorumsql index {database}`.",
                )
            if index.embedder != self._embedder.name:
                raise IndexUnavailable(
                    f"The index of {database!r} was made with the embedder {index.embedder!r}, "
                    f"the service uses {self._embedder.name!r}.",
                    hint=f"Run `quorumsql index {database}` again.",
                )
            vectors = {card.table: index.vectors[at] for at, card in enumerate(index.cards)}
            modules = {
                module: [table.qualified for table in tables]
                for module, tables in index.catalog.modules.items()
            }
            self._loaded[database] = _Searchable(
                tables=frozenset(table.qualified for table in index.catalog.tables),
                version=index.version,
                keywords=KeywordRanking(index.cards),
                router=ModuleRouter(modules, vectors),
            )
        return self._loaded[database]


def _restrict_route(route: ModuleRoute, visible: Catalog) -> ModuleRoute:
    """The route without modules of which nothing may be seen."""
    pairs = [
        (module, confidence)
        for module, confidence in zip(route.modules, route.confidences, strict=True)
        if module in visible.modules
    ]
    return ModuleRoute(
        tuple(module for module, _ in pairs),
        route.method,
        tuple(confidence for _, confidence in pairs),
    )
