"""Small collaborators for tests, each with a queue of answers and a history of what it was asked.

Nothing here patches anything: a fake is handed to a constructor in the place of the real stage. An
answer that is an exception is raised. A fake whose queue runs dry fails the test that asked it
once too often. ``build_*`` make the values of ``nl2sql.types`` with defaults that a test overrides
by name; ``SHOP`` is the schema that all of them speak about.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.errors import IndexReplaced, IndexUnavailable
from nl2sql.settings import Settings, parse_settings
from nl2sql.types import (
    Assessment,
    Candidate,
    Completions,
    Diagnostic,
    Explained,
    Generated,
    GuardedQuery,
    ModuleRoute,
    Plan,
    Principal,
    Prompt,
    Question,
    Ranking,
    Repair,
    ResultSet,
    RetrievedTable,
    SamplingRequest,
    SchemaContext,
    Score,
    ScoreTerm,
    Sketch,
    Violation,
)
from retrieval.embedder import Embedder
from retrieval.index_store.generation_writer import NewGeneration
from retrieval.index_store.head import IndexedDatabase, IndexHead
from retrieval.index_store.index_writer import IndexWriter
from retrieval.index_store.masks import Mask
from retrieval.index_store.store import IndexStore
from retrieval.search.cards import Card, ColumnCard

_T = TypeVar("_T")

# -- the schema of the tests -------------------------------------------------------------------


def build_table(
    name: str, *columns: str, key: tuple[str, ...] = (), comment: str = "", kind: str = "table"
) -> Table:
    """A table from its qualified name and columns such as ``"id integer"``.

    >>> build_table("s.t", "id integer -- the number", key=("id",)).column("id").comment
    'the number'
    """
    schema, _, short = name.partition(".")
    return Table(
        schema=schema,
        name=short,
        columns=tuple(_build_column(text, key) for text in columns),
        primary_key=key,
        comment=comment,
        kind=kind,
    )


def _build_column(text: str, key: tuple[str, ...]) -> Column:
    declaration, _, comment = text.partition(" -- ")
    name, _, kind = declaration.rpartition(" ")
    return Column(name, kind, nullable=name not in key, comment=comment)


def build_key(source: str, target: str) -> ForeignKey:
    """A foreign key from ``"s.t(a, b)"`` to ``"s.u(c, d)"``, named ``t_a_b_fkey``."""
    table, columns = _split_reference(source)
    other, other_columns = _split_reference(target)
    name = "_".join((table.split(".")[-1], *columns, "fkey"))
    return ForeignKey(name, table, columns, other, other_columns)


def _split_reference(text: str) -> tuple[str, tuple[str, ...]]:
    table, _, columns = text.rstrip(")").partition("(")
    return table, tuple(column.strip() for column in columns.split(","))


CUSTOMERS = build_table(
    "sales.customers",
    "id integer",
    "name text",
    "country text -- ISO 3166 code of the country",
    "Loyalty Tier text",
    key=("id",),
    comment="People and companies who buy",
)
EMPLOYEES = build_table(
    "sales.employees", "id integer", "name text", "manager_id integer", key=("id",)
)
ORDERS = build_table(
    "sales.orders",
    "id integer",
    "customer_id integer",
    "seller_id integer -- employee who sold it",
    "placed_at timestamp -- when the order came in",
    "status text -- open, shipped or cancelled",
    "total numeric(12,2) -- in euros",
    key=("id",),
    comment="What customers ordered",
)
ORDER_LINES = build_table(
    "sales.order_lines",
    "order_id integer",
    "line_no integer",
    "product_id integer",
    "quantity integer",
    "price numeric(12,2)",
    key=("order_id", "line_no"),
)
PRODUCTS = build_table(
    "stock.products",
    "id integer",
    "name text",
    "category text",
    "price numeric(12,2)",
    "tags text[]",
    key=("id",),
    comment="What can be bought",
)
RETURNS = build_table(
    "stock.returns",
    "id integer",
    "order_id integer",
    "line_no integer",
    "reason text",
    key=("id",),
)

SHOP = Catalog(
    database="shop",
    tables=(CUSTOMERS, EMPLOYEES, ORDER_LINES, ORDERS, PRODUCTS, RETURNS),
    foreign_keys=(
        build_key("sales.orders(customer_id)", "sales.customers(id)"),
        build_key("sales.orders(seller_id)", "sales.employees(id)"),
        build_key("sales.employees(manager_id)", "sales.employees(id)"),
        build_key("sales.order_lines(order_id)", "sales.orders(id)"),
        build_key("sales.order_lines(product_id)", "stock.products(id)"),
        build_key("stock.returns(order_id, line_no)", "sales.order_lines(order_id, line_no)"),
    ),
    search_path=("sales", "stock"),
)
"""Six tables in two schemas: a composite key, a key across schemas, one onto itself."""

# -- builders ----------------------------------------------------------------------------------


def build_settings(**overrides: Any) -> Settings:
    """Settings with one embedded database ``shop``; ``overrides`` are whole top-level sections."""
    embedded = {"url": "embedded"}
    databases = {"shop": {"reader": embedded, "indexer": embedded}}
    return parse_settings({"databases": databases, **overrides})


def build_question(**overrides: Any) -> Question:
    """A question about ``SHOP``, with one candidate."""
    values: dict[str, Any] = {
        "text": "How many orders are there?",
        "database": "shop",
        "principal": Principal("tester"),
        "k": 1,
        "seed": 0,
        "max_rows": 100,
    }
    return Question(**{**values, **overrides})


def build_context(
    catalog: Catalog = SHOP, tables: Sequence[str] = (), **overrides: Any
) -> SchemaContext:
    """A context of the tables named, in that rank; of the whole catalog when none is named."""
    chosen = [table for name in tables if (table := catalog.table(name))] or list(catalog.tables)
    inside = {table.qualified for table in chosen}
    values: dict[str, Any] = {
        "tables": tuple(
            RetrievedTable(table, score=1 / rank, cosine_rank=rank, bm25_rank=rank, cosine=0.5)
            for rank, table in enumerate(chosen, start=1)
        ),
        "foreign_keys": tuple(
            key for key in catalog.foreign_keys if {key.table, key.target} <= inside
        ),
        "names": tuple(catalog.short_names[table.qualified] for table in chosen),
        "version": "v1",
    }
    return SchemaContext(**{**values, **overrides})


def build_candidate(sql: str = "SELECT 1", **overrides: Any) -> Candidate:
    """A candidate ``c1``, sampled once."""
    return Candidate(**{"id": "c1", "sql": sql, **overrides})


def build_guarded(sql: str = "SELECT 1", *tables: str, database: str = "shop") -> GuardedQuery:
    """A query as the guard hands it out, unchanged."""
    return GuardedQuery(database=database, sql=sql, tables=tuple(sorted(tables)))


def build_result(*rows: tuple[object, ...], truncated: bool = False) -> ResultSet:
    """A result with columns ``c1``, ``c2`` … as wide as its first row."""
    width = len(rows[0]) if rows else 1
    return ResultSet(
        columns=tuple(f"c{number}" for number in range(1, width + 1)),
        types=("text",) * width,
        rows=rows,
        truncated=truncated,
        ms=1.0,
    )


def build_diagnostic(message: str = "it broke", **overrides: Any) -> Diagnostic:
    """A database error; an undefined column unless told otherwise."""
    return Diagnostic(**{"sqlstate": "42703", "message": message, **overrides})


def build_violation(code: str = "unknown_table", **overrides: Any) -> Violation:
    """A refusal by the guard."""
    return Violation(**{"code": code, "fragment": "x", "message": "It is refused.", **overrides})


def build_assessment(
    id: str = "c1",  # noqa: A002 - the candidate's field
    *,
    sql: str = "",
    samples: int = 1,
    score: float = 100.0,
    cost: float | None = 10.0,
    **overrides: Any,
) -> Assessment:
    """What is known of a candidate; guarded and explained, with no result yet.

    ``rows`` gives it a result, ``diagnostic`` or a Violation as ``verdict`` makes it fail.
    """
    sql = sql or f"SELECT '{id}'"
    rows = overrides.pop("rows", None)
    values: dict[str, Any] = {
        "candidate": Candidate(id=id, sql=sql, samples=samples),
        "verdict": build_guarded(sql),
        "explained": None if cost is None else Explained(cost=cost, rows=1.0),
        "score": Score((ScoreTerm("base", score),)),
        "result": None if rows is None else build_result(*rows),
    }
    return Assessment(**{**values, **overrides})


def build_generated(*candidates: Candidate, **overrides: Any) -> Generated:
    """What the generator returns, at 100 prompt tokens and 10 completion tokens."""
    values: dict[str, Any] = {
        "prompt": Prompt("generate", ()),
        "candidates": candidates,
        "prompt_tokens": 100,
        "completion_tokens": 10,
    }
    return Generated(**{**values, **overrides})


# -- collaborators -----------------------------------------------------------------------------


class Queue:
    """Answers in order; an exception among them is raised, an empty queue fails the test."""

    def __init__(self, owner: str, answers: Iterable[object]) -> None:
        self._owner = owner
        self._answers = deque(answers)

    def next(self, kind: type[_T], asked: object) -> _T:
        """The next answer, which must be of that kind."""
        assert self._answers, f"{self._owner} was asked once too often: {asked!r}"
        answer = self._answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, kind), f"{self._owner} holds {answer!r}, not a {kind}"
        return answer


def count_fake_tokens(texts: tuple[str, ...]) -> tuple[int, ...]:
    """What every fake model takes a text for: a token for every four letters begun."""
    return tuple(-(-len(text) // 4) for text in texts)


class FakeEngine:
    """A language model that says what is queued: the texts of one request an entry."""

    def __init__(self, *answers: Sequence[str] | Exception) -> None:
        self._queue = Queue("FakeEngine", answers)
        self.requests: list[SamplingRequest] = []
        self.counted: list[tuple[str, ...]] = []

    async def sample(self, request: SamplingRequest) -> Completions:
        """The next texts, at 100 prompt tokens and 10 completion tokens a text."""
        self.requests.append(request)
        texts = self._queue.next(Sequence, request)  # type: ignore[type-abstract]
        return Completions(tuple(texts), prompt_tokens=100, completion_tokens=10 * len(texts))

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """A token for every four letters begun."""
        self.counted.append(texts)
        return count_fake_tokens(texts)


class FakeRetriever:
    """Gives the queued contexts; the whole of ``SHOP``, for ever, when none is queued."""

    def __init__(self, *answers: SchemaContext | Exception) -> None:
        self._queue = Queue("FakeRetriever", answers) if answers else None
        self.questions: list[Question] = []
        self.sketches: list[str] = []

    async def retrieve(
        self, question: Question, *, sketch: str = ""
    ) -> tuple[ModuleRoute, SchemaContext]:
        """The next context, routed to all of its schemas."""
        self.questions.append(question)
        self.sketches.append(sketch)
        context = self._queue.next(SchemaContext, question) if self._queue else build_context()
        modules = tuple(dict.fromkeys(hit.table.schema for hit in context.tables))
        return ModuleRoute(modules, "fake", (1.0,) * len(modules)), context


class FakePlanner:
    """Gives one plan to every question."""

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan or Plan()
        self.questions: list[Question] = []

    async def plan(self, question: Question, context: SchemaContext) -> Plan:
        """The plan."""
        self.questions.append(question)
        return self._plan


class FakeGenerator:
    """Refuses with ``reason`` where it is set; else gives the queued generations.

    ``sketch`` is its draft of any question, or the exception that it raises instead.
    """

    def __init__(
        self,
        *answers: Generated | Exception,
        reason: str = "",
        sketch: str | Exception = "",
    ) -> None:
        self._queue = Queue("FakeGenerator", answers)
        self._reason = reason
        self._sketch = sketch
        self.questions: list[Question] = []

    async def gate(self, question: Question, context: SchemaContext) -> str:
        """The reason to refuse."""
        return self._reason

    async def sketch(self, question: Question, context: SchemaContext) -> Sketch:
        """The draft, at 100 prompt tokens and 10 completion tokens."""
        if isinstance(self._sketch, Exception):
            raise self._sketch
        return Sketch(self._sketch, prompt_tokens=100, completion_tokens=10)

    async def generate(
        self, question: Question, context: SchemaContext, plan: Plan, *, round_number: int = 0
    ) -> Generated:
        """The next generation."""
        self.questions.append(question)
        return self._queue.next(Generated, question)


class FakeRanker:
    """Assesses by SQL, ranks by queue; both histories are kept."""

    def __init__(
        self, assessments: Mapping[str, Assessment], *rankings: Ranking | Exception
    ) -> None:
        self._assessments = dict(assessments)
        self._queue = Queue("FakeRanker", rankings)
        self.assessed: list[Candidate] = []
        self.ranked: list[tuple[Assessment, ...]] = []

    async def assess(self, question: Question, candidate: Candidate, plan: Plan) -> Assessment:
        """The assessment that is known for the candidate's SQL."""
        self.assessed.append(candidate)
        return self._assessments[candidate.sql]

    async def rank(
        self, question: Question, assessments: tuple[Assessment, ...], *, samples: int
    ) -> Ranking:
        """The next ranking, whatever it is asked to rank."""
        self.ranked.append(assessments)
        return self._queue.next(Ranking, assessments)


class FakeRepairer:
    """Gives the queued repairs: a new query, ``""`` for none, or an exception."""

    def __init__(self, *answers: str | Exception) -> None:
        self._queue = Queue("FakeRepairer", answers)
        self.failed: list[Assessment] = []
        self.may_ask_model: list[bool] = []

    async def repair(
        self, question: Question, context: SchemaContext, failed: Assessment, *, ask_model: bool
    ) -> tuple[Candidate | None, Repair]:
        """The next query as a candidate, with the samples of the one that failed."""
        self.failed.append(failed)
        self.may_ask_model.append(ask_model)
        sql = self._queue.next(str, failed)
        name = failed.candidate.id
        if not sql:
            return None, Repair(name, "broken", "fake", "none")
        candidate = Candidate(f"{name}r", sql, failed.candidate.samples, "repair", name)
        return candidate, Repair(name, "broken", "fake", "failed", sql)


class FakeGuard:
    """Lets everything pass unchanged, but for the SQL that has a verdict of its own."""

    def __init__(self, verdicts: Mapping[str, GuardedQuery | Violation] | None = None) -> None:
        self._verdicts = dict(verdicts or {})
        self.guarded: list[tuple[str, str, Principal]] = []

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        """The verdict on the SQL."""
        self.guarded.append((database, sql, principal))
        return self._verdicts.get(sql) or build_guarded(sql, database=database)


class FakeExecutor:
    """Queued answers for each SQL. An EXPLAIN that nothing is queued for costs 10."""

    def __init__(
        self,
        results: Mapping[str, Sequence[ResultSet | Diagnostic | Exception]] | None = None,
        explains: Mapping[str, Sequence[Explained | Diagnostic | Exception]] | None = None,
    ) -> None:
        self._results = {sql: Queue(sql, queue) for sql, queue in (results or {}).items()}
        self._explains = {sql: Queue(sql, queue) for sql, queue in (explains or {}).items()}
        self.explained: list[GuardedQuery] = []
        self.executed: list[tuple[GuardedQuery, int]] = []

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """The next EXPLAIN of that SQL."""
        self.explained.append(query)
        if query.sql not in self._explains:
            return Explained(cost=10.0, rows=1.0)
        return self._explains[query.sql].next((Explained, Diagnostic), query)  # type: ignore[arg-type]

    async def execute(self, query: GuardedQuery, max_rows: int) -> ResultSet | Diagnostic:
        """The next result of that SQL."""
        self.executed.append((query, max_rows))
        assert query.sql in self._results, f"no result is queued for {query.sql!r}"
        return self._results[query.sql].next((ResultSet, Diagnostic), query)  # type: ignore[arg-type]


class FakeCatalogs:
    """A catalog source; a database without a catalog was never indexed."""

    def __init__(self, *catalogs: Catalog) -> None:
        self.catalogs = {catalog.database: catalog for catalog in catalogs}
        self.requests: list[str] = []

    async def catalog(self, database: str) -> Catalog:
        """The catalog of that database, always the same object."""
        self.requests.append(database)
        if database not in self.catalogs:
            raise IndexUnavailable(f"The database {database!r} has not been indexed.")
        return self.catalogs[database]


class FakeVisibility:
    """Shows a store's catalogs but for the ``hidden``, or nothing for a ``refusal``.

    ``hidden`` names tables (``schema.table``) and columns (``schema.table.column``). The same
    catalog is always shown as the same object.
    """

    def __init__(
        self,
        store: FakeIndexStore,
        hidden: Collection[str] = (),
        refusal: Violation | None = None,
        open_columns: Collection[str] | None = None,
    ) -> None:
        self._store = store
        self._hidden = hidden
        self._refusal = refusal
        self._open = None if open_columns is None else frozenset(open_columns)
        self._shown: dict[int, tuple[Catalog, Catalog]] = {}

    async def visible_catalog(self, database: str, principal: Principal) -> Catalog | Violation:
        """What was put there last, less what is hidden."""
        if self._refusal is not None:
            return self._refusal
        index = self._store.indexes.get(database)
        if index is None:
            return Catalog(database, ())
        whole = index.catalog
        if id(whole) not in self._shown:
            self._shown[id(whole)] = (whole, self._hide(whole))
        return self._shown[id(whole)][1]

    def _hide(self, whole: Catalog) -> Catalog:
        tables = {
            table.qualified: replace(
                table,
                columns=tuple(
                    column
                    for column in table.columns
                    if f"{table.qualified}.{column.name}" not in self._hidden
                ),
            )
            for table in whole.tables
            if table.qualified not in self._hidden
        }

        def shows(key: ForeignKey) -> bool:
            ends = ((key.table, key.columns), (key.target, key.target_columns))
            return all(
                name in tables and all(tables[name].column(column) for column in columns)
                for name, columns in ends
            )

        return replace(
            whole,
            tables=tuple(tables.values()),
            foreign_keys=tuple(filter(shows, whole.foreign_keys)),
            inferred_keys=tuple(filter(shows, whole.inferred_keys)),
        )

    async def open_columns(self, database: str, principal: Principal) -> frozenset[str] | None:
        """The columns whose values may be told; None: all."""
        return self._open


class FakeEmbedder(Embedder):
    """Unit vectors by word: texts that share words are near. Loads no model.

    A vector counts, in 64 places, how often a word of that hash occurs.
    """

    def __init__(self, name: str = "fake") -> None:
        super().__init__(name)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        self.texts += texts
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(",", " ").replace(".", " ").split():
                vectors[row, sum(word.encode()) % 64] += 1.0
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return np.asarray(vectors / norms, dtype=np.float32)


class FakeIndexStore(IndexStore):
    """An index in memory. ``loads`` and ``replaced`` name the databases, in order."""

    def __init__(self) -> None:
        super().__init__("postgresql://nobody@nowhere/nothing")
        self.indexes: dict[str, IndexedDatabase] = {}
        self.vectors: dict[tuple[str, str, bytes], NDArray[np.float32]] = {}
        self.loads: list[str] = []
        self.replaced: list[str] = []
        self._locks: dict[str, asyncio.Lock] = {}

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def head(self, database: str) -> IndexHead | None:
        """The head of what was put there last."""
        return index.head if (index := self.indexes.get(database)) else None

    async def heads(self) -> list[IndexHead]:
        """All heads, in order of the databases' names."""
        return [self.indexes[name].head for name in sorted(self.indexes)]

    async def load(self, database: str) -> IndexedDatabase | None:
        """What was put there last."""
        self.loads.append(database)
        return self.indexes.get(database)

    async def load_catalog(self, head: IndexHead) -> Catalog:
        """The catalog of what was put there last."""
        return self._live(head).catalog

    async def table_vectors(self, head: IndexHead) -> NDArray[np.float32]:
        """A row a table."""
        return self._stack(head, self._live(head).cards.tables)

    async def nearest_tables(
        self, head: IndexHead, vector: NDArray[np.float32], limit: int, among: Mask | None = None
    ) -> list[tuple[int, float]]:
        """By cosine similarity, nearest first."""
        return _sort_nearest(await self.table_vectors(head), vector, limit, among)

    async def nearest_columns(
        self, head: IndexHead, vector: NDArray[np.float32], limit: int, among: Mask | None = None
    ) -> list[tuple[int, float]]:
        """By cosine similarity, nearest first."""
        vectors = self._stack(head, self._live(head).cards.columns)
        return _sort_nearest(vectors, vector, limit, among)

    @asynccontextmanager
    async def writer(
        self, database: str, on_wait: Callable[[], None] = lambda: None
    ) -> AsyncIterator[IndexWriter]:
        """One writer a database at a time."""
        lock = self._locks.setdefault(database, asyncio.Lock())
        if lock.locked():
            on_wait()
        async with lock:
            yield FakeIndexWriter(self, database)

    async def close(self) -> None:
        """Nothing to close."""

    def _live(self, head: IndexHead) -> IndexedDatabase:
        index = self.indexes.get(head.database)
        if index is None or index.head.generation != head.generation:
            raise IndexReplaced(f"The index of {head.database!r} was replaced.")
        return index

    def _stack(
        self, head: IndexHead, cards: Sequence[Card] | Sequence[ColumnCard]
    ) -> NDArray[np.float32]:
        rows = [
            self.vectors[head.database, head.embedder, bytes.fromhex(card.sha256)] for card in cards
        ]
        return np.array(rows, dtype=np.float32).reshape(len(rows), head.dimensions)


class FakeIndexWriter(IndexWriter):
    """Writes into a store in memory."""

    def __init__(self, store: FakeIndexStore, database: str) -> None:
        self._store = store
        self._database = database

    async def head(self) -> IndexHead | None:
        """What was put there last."""
        return await self._store.head(self._database)

    async def known_hashes(self, embedder: str) -> set[bytes]:
        """Of what this database has vectors."""
        return {
            sha256
            for database, name, sha256 in self._store.vectors
            if (database, name) == (self._database, embedder)
        }

    async def add_vectors(
        self, embedder: str, hashes: Sequence[bytes], vectors: NDArray[np.float32]
    ) -> None:
        """Keeps them."""
        for sha256, vector in zip(hashes, vectors, strict=True):
            self._store.vectors[self._database, embedder, sha256] = vector

    async def replace(
        self, new: NewGeneration, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> IndexHead:
        """Puts a new index in the place of the old one, of the next generation."""
        old = self._store.indexes.get(self._database)
        widths = [
            len(vector)
            for (database, name, _), vector in self._store.vectors.items()
            if (database, name) == (self._database, new.embedder)
        ]
        head = IndexHead(
            database=self._database,
            generation=old.head.generation + 1 if old else 1,
            version=new.version,
            fingerprint=new.fingerprint,
            embedder=new.embedder,
            dimensions=widths[0] if widths else 0,
            dialect=new.catalog.dialect,
            search_path=new.catalog.search_path,
            tables=len(new.catalog.tables),
            columns=sum(len(table.columns) for table in new.catalog.tables),
            column_cards=len(new.cards.columns),
            foreign_keys=len(new.catalog.foreign_keys),
            inferred_keys=len(new.catalog.inferred_keys),
            indexed_at=datetime(2025, 1, 1, tzinfo=UTC),
        )
        self._store.replaced.append(self._database)
        self._store.indexes[self._database] = IndexedDatabase(head, new.catalog, new.cards)
        await self.clean_up()
        return head

    async def drop(self) -> bool:
        """Forgets the index."""
        found = self._store.indexes.pop(self._database, None) is not None
        await self.clean_up()
        return found

    async def clean_up(self) -> None:
        """Forgets the vectors that no index uses."""
        index = self._store.indexes.get(self._database)
        used: set[bytes] = set()
        if index is not None:
            used |= {bytes.fromhex(card.sha256) for card in index.cards.tables}
            used |= {bytes.fromhex(card.sha256) for card in index.cards.columns}
        for key in list(self._store.vectors):
            if key[0] == self._database and (
                index is None or key[1] != index.embedder or key[2] not in used
            ):
                del self._store.vectors[key]


def _sort_nearest(
    vectors: NDArray[np.float32], vector: NDArray[np.float32], limit: int, among: Mask | None
) -> list[tuple[int, float]]:
    if not len(vectors):
        return []
    cosines = vectors @ vector
    allowed = set(range(len(vectors)) if among is None else among.positions.tolist())
    order = [int(at) for at in np.argsort(-cosines, kind="stable") if int(at) in allowed]
    return [(at, float(cosines[at])) for at in order[:limit]]
