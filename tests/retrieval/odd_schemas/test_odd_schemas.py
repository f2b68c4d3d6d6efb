"""Odd schemas of each kind of database, through every stage that meets their names.

Each is indexed or reported, asked for, planned, shown in a prompt, guarded and read. What the
prompt calls a table or a column must be what the database finds: so the queries here are written in
the prompt's own words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import (
    INDEX_DATABASE,
    INDEXER,
    READER,
    EmbeddedServer,
    grant_reader,
)
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog, Table
from nl2sql.schema_text import render_schema
from nl2sql.settings import FlagSettings, LimitSettings, RetrievalSettings
from nl2sql.sql.names import quote_name
from nl2sql.types import (
    NOT_PERMITTED,
    Diagnostic,
    GuardedQuery,
    Plan,
    Principal,
    Question,
    ResultSet,
    SchemaContext,
    Violation,
)
from nl2sql.words import split_words
from retrieval.index_store.store import IndexStore
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from retrieval.planner import SchemaPlanner
from retrieval.retriever import HybridRetriever
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import index_database as index_whole
from serve_app.operations.skipped_objects import list_remedies
from serve_app.settings import parse_settings
from tests.fakes import FakeCatalogs, FakeEmbedder, FakeIndexStore
from tests.retrieval.indexed import index_database
from tests.retrieval.odd_schemas.schemas import SCHEMAS, OddSchema

ASKER = Principal("asker")
_LIMITS = LimitSettings(pool_size=1, file_memory_mib=256)

# The wrapper behind one has no code, the other was never filled: the database says so.
_UNREADABLE = {"public.far", "public.unfilled"}


@dataclass(frozen=True, slots=True)
class Made:
    """An odd schema that was made: its catalog, and where it is."""

    odd: OddSchema
    catalog: Catalog
    place: Path | EmbeddedServer

    def open(self) -> Database:
        """The database, as the reader."""
        name = self.odd.name
        if isinstance(self.place, EmbeddedServer):
            path = self.catalog.search_path
            url = self.place.url(name, READER)
            return PostgresDatabase(name, url, LimitSettings(), search_path=path)
        kind = SqliteDatabase if self.catalog.dialect == "sqlite" else DuckDbDatabase
        return kind(name, self.place, _LIMITS)

    def settings(self) -> dict[str, object]:
        """The settings of the database."""
        if isinstance(self.place, EmbeddedServer):
            reader, indexer = (self.place.url(self.odd.name, role) for role in (READER, INDEXER))
            return {"reader": {"url": reader}, "indexer": {"url": indexer}}
        return {"reader": {"url": f"{self.catalog.dialect}:///{self.place}"}}


def make_on_postgres(server: EmbeddedServer, odd: OddSchema) -> Made:
    """A database of the schema's name, made if it is not there yet: that takes a while."""
    with psycopg.connect(server.url("postgres", "postgres")) as connection:
        query = "SELECT 1 FROM pg_database WHERE datname = %s"
        is_known = connection.execute(query, (odd.name,)).fetchone()
    url = server.url(odd.name, "postgres")
    if not is_known:
        server.create_database(odd.name)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(odd.script.encode())
            grant_reader(connection)
            connection.execute(odd.after.encode())
    catalog = read_postgres_catalog(url, database=odd.name, reader_role=READER, schemas=odd.schemas)
    return Made(odd, catalog, server)


def make_file(dialect: str, folder: Path, odd: OddSchema) -> Made:
    """A new file of SQLite or DuckDB."""
    path = folder / f"{odd.name}.{dialect}"
    if dialect == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(odd.script)
        return Made(odd, read_sqlite_catalog(path, database=odd.name), path)
    with duckdb.connect(path) as connection:
        connection.execute(odd.script)
    return Made(odd, read_duckdb_catalog(path, database=odd.name, schemas=odd.schemas), path)


class OddDatabase:
    """One odd schema, indexed in memory, with a real database behind it if it is to be read."""

    def __init__(
        self,
        catalog: Catalog,
        database: Database | None = None,
        *,
        guard: SqlGuard | None = None,
        asker: Principal = ASKER,
    ) -> None:
        self.catalog = catalog
        self._embedder = FakeEmbedder()
        self._guard = guard or SqlGuard(FakeCatalogs(catalog))
        self._asker = asker
        self._database = database
        self._store = FakeIndexStore()
        settings, flags = RetrievalSettings(), FlagSettings()
        self._retriever = HybridRetriever(self._store, self._embedder, self._guard, settings, flags)
        self._planner = SchemaPlanner(flags)

    async def index(self) -> None:
        """Builds the index."""
        await index_database(self.catalog, self._store, self._embedder)

    async def ask(self, text: str) -> tuple[SchemaContext, Plan, str]:
        """Context and plan of a question, and the schema as a prompt shows it."""
        question = Question(text, self.catalog.database, self._asker, k=1, seed=0, max_rows=10)
        _, context = await self._retriever.retrieve(question)
        plan = await self._planner.plan(question, context)
        return context, plan, render_schema(context, columns=plan.columns)

    async def run(self, sql: str) -> ResultSet | Diagnostic:
        """The guarded query's result; the guard must let it pass."""
        guarded = await self._guard.guard(self.catalog.database, sql, self._asker)
        assert isinstance(guarded, GuardedQuery), (guarded, sql[:500])
        assert self._database is not None
        return await self._database.execute(guarded, 10)

    async def read(self, table: Table) -> ResultSet | Diagnostic:
        """The table's last columns, bare and behind its name."""
        dialect, name = self.catalog.dialect, self.catalog.short_names[table.qualified]
        columns = [quote_name(column.name, dialect) for column in table.columns[-300:]]
        behind = quote_name(table.name, dialect)
        columns += [f"{behind}.{column}" for column in columns[:30]]
        return await self.run(f"SELECT {', '.join(columns)} FROM {name}")


def list_cases(**names: tuple[str, ...]) -> pytest.MarkDecorator:
    """The test's schemas: those named of each kind of database, all if none is named."""
    cases = [
        pytest.param((dialect, odd), id=f"{dialect}-{odd.name}")
        for dialect, chosen in (names or dict.fromkeys(SCHEMAS, ())).items()
        for odd in SCHEMAS[dialect]
        if not chosen or odd.name in chosen
    ]
    return pytest.mark.parametrize("made", cases, indirect=True)


@pytest.fixture(scope="module")
def made(
    request: pytest.FixtureRequest,
    embedded_server: EmbeddedServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Made:
    """Each schema that a test has as its parameter, made and read."""
    dialect, odd = request.param
    if dialect == "postgres":
        return make_on_postgres(embedded_server, odd)
    return make_file(dialect, tmp_path_factory.mktemp(dialect), odd)


@pytest.fixture
async def database(made: Made) -> AsyncIterator[OddDatabase]:
    """The schema in turn, indexed in memory."""
    reader = made.open()
    built = OddDatabase(made.catalog, reader)
    await built.index()
    yield built
    await reader.close()


@list_cases()
async def test_each_is_indexed_or_reported_and_can_be_asked_for(
    made: Made, database: OddDatabase
) -> None:
    odd, catalog = made.odd, made.catalog
    found = sorted(table.qualified for table in catalog.tables)
    assert found == sorted(odd.tables) or odd.name == "keywords"
    assert sorted((f"{gap.kind} {gap.name}", gap.reason) for gap in catalog.skipped) == sorted(
        odd.skipped
    )
    context, *_ = await database.ask("How many orders are there?")
    refusal = "" if catalog.tables else f"There is no table in {odd.name} that you may see."
    assert context.refusal == refusal
    for table in catalog.tables[:8]:
        words = [*split_words(table.name), "and", *split_words(table.columns[-1].name)]
        context, plan, _ = await database.ask(f"How many {' '.join(words)} are there?")
        assert context.tables
        if plan.joins.skeleton:
            joined = await database.run(f"SELECT count(*) {plan.joins.skeleton}")
            assert not isinstance(joined, Diagnostic), (joined, plan.joins)
    # Each name in the prompt is one that the database finds.
    for table in catalog.tables:
        result = await database.read(table)
        is_unreadable = table.qualified in _UNREADABLE
        assert isinstance(result, Diagnostic) is is_unreadable, (result, table.qualified)


@list_cases(postgres=("odd_names", "dots", "types"), sqlite=("types",), duckdb=("comments",))
async def test_an_odd_schema_survives_the_index_and_the_whole_job(
    made: Made, embedded_server: EmbeddedServer
) -> None:
    name = made.odd.name
    settings: dict[str, Any] = {
        "default_database": name,
        "databases": {name: made.settings()},
        "index": {"connection": {"url": embedded_server.url(INDEX_DATABASE, INDEXER)}},
    }
    wiring = Wiring(parse_settings(settings))
    store: IndexStore = wiring.build_index_store()
    try:
        first = await index_database(made.catalog, store, FakeEmbedder())
        again = await index_database(made.catalog, store, FakeEmbedder())
        assert (first is not None, again) == (True, None)
        assert (await store.load(name)).catalog == made.catalog
        # With values, inferred keys and glosses.
        report = await index_whole(wiring, name, store, FakeEmbedder())
        assert (report.tables, len(report.skipped)) == (
            len(made.odd.tables),
            len(made.odd.skipped),
        )
        assert await store.drop(name)
    finally:
        await store.close()


@list_cases(duckdb=("comments", "types"), sqlite=("types",))
async def test_comments_and_types_stay_short_and_on_their_line(database: OddDatabase) -> None:
    _, _, ddl = await database.ask("notes")
    tables = database.catalog.tables
    columns = sum(len(table.columns) for table in tables)
    assert len(ddl.splitlines()) == columns + 2 * len(tables)
    for line in ddl.splitlines():
        assert len(line) < 400
        assert not line.startswith(("DROP", "-- and"))


# -- rights ----------------------------------------------------------------------------------------

BY_NAME = {odd.name: odd for odd in SCHEMAS["postgres"]}


@pytest.mark.parametrize("name", ["all_denied", "half_denied", "columns_denied", "partitions"])
def test_the_statements_that_are_given_help(name: str, embedded_server: EmbeddedServer) -> None:
    odd = replace(BY_NAME[name], name=f"{name}_granted")
    skipped = make_on_postgres(embedded_server, odd).catalog.skipped
    with psycopg.connect(embedded_server.url(odd.name, "postgres"), autocommit=True) as connection:
        for statement in list_remedies(skipped, most=100):
            connection.execute(statement.encode())
    assert make_on_postgres(embedded_server, odd).catalog.skipped == ()


async def test_a_policy_hides_odd_names_as_it_hides_others(embedded_server: EmbeddedServer) -> None:
    odd = OddSchema(
        "odd_policy",
        'CREATE TABLE "open one" (id int, "hidden col" int, "ünseen" text);'
        'CREATE TABLE "hidden 🙈" (id int, "open one" int);'
        'CREATE TABLE "a.b" (id int, "secret x" int); CREATE VIEW peek AS TABLE "hidden 🙈"',
    )
    catalog = make_on_postgres(embedded_server, odd).catalog
    clerk_policy = {
        "tables": {"visible": ["public.open one", "public.a.b"]},
        "row_filters": {"public.open one": "id < 10"},
        "hidden_columns": ["public.open one.hidden col", "public.a.b.secret x"],
    }
    policy = parse_policy(
        {"version": 1, "shared": ["public.a.b"], "roles": {"clerk": clerk_policy}}
    )
    guard = SqlGuard(FakeCatalogs(catalog), {odd.name: PolicySettings(policy)})
    clerk = Principal("clerk", ("clerk",))
    database = OddDatabase(catalog, guard=guard, asker=clerk)
    await database.index()
    context, _, text = await database.ask("hidden 🙈 open one hidden col secret x ünseen peek a b")
    assert {hit.table.qualified for hit in context.tables} == {"public.open one", "public.a.b"}
    assert '"ünseen"' in text
    for hidden in ("hidden", "🙈", "secret", "peek"):
        assert hidden not in text
    for sql in (
        'SELECT "hidden col" FROM "open one"',
        'SELECT id FROM "hidden 🙈"',
        'SELECT "secret x" FROM "a.b"',
    ):
        refused = await guard.guard(odd.name, sql, clerk)
        assert isinstance(refused, Violation)
        assert refused.code == NOT_PERMITTED
