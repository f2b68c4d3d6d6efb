"""Odd schemas of each kind of database: indexed or reported, asked for, kept, shown in a prompt."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import INDEX_DATABASE, INDEXER, READER, EmbeddedServer
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.schema_text import SchemaWriter, TokenCounts
from nl2sql.settings import LimitSettings, parse_settings
from nl2sql.types import Diagnostic
from retrieval.index_store.store import IndexStore
from retrieval.indexing import index_database
from retrieval.indexing.job import run_job
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import DatabaseJob
from tests.fakes import FakeEmbedder, FakeEngine
from tests.retrieval.indexed import load
from tests.retrieval.odd_schemas.building import (
    build_file,
    build_on_postgres,
    find_odd,
    list_cases,
    read_file,
    read_on_postgres,
)
from tests.retrieval.odd_schemas.odd_schema import OddSchema, build_wide
from tests.retrieval.odd_schemas.walk import OddDatabase, list_skipped

_LIMITS = LimitSettings(pool_size=1, duckdb_memory_mib=256)

# The wrapper behind it has no code.
_UNREADABLE = {"public.far"}

# An embedder reads about 256 pieces of words.
_LONGEST_EMBEDDED = 4000


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
        schemas = list(self.odd.schemas)
        if isinstance(self.place, EmbeddedServer):
            reader, indexer = (self.place.url(self.odd.name, role) for role in (READER, INDEXER))
            return {"reader": {"url": reader}, "indexer": {"url": indexer}, "schemas": schemas}
        found: dict[str, object] = {"reader": {"url": f"{self.catalog.dialect}:///{self.place}"}}
        return found | {"schemas": schemas} if self.catalog.dialect == "duckdb" else found


@pytest.fixture(scope="module")
def made(
    request: pytest.FixtureRequest,
    odd_server: EmbeddedServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Made:
    """Each schema that a test has as its parameter, made and read."""
    dialect, odd = request.param
    if dialect == "postgres":
        build_on_postgres(odd_server, odd)
        return Made(odd, read_on_postgres(odd_server, odd), odd_server)
    path = build_file(dialect, tmp_path_factory.mktemp(dialect), odd)
    return Made(odd, read_file(path, odd), path)


@pytest.fixture
async def database(made: Made) -> AsyncIterator[OddDatabase]:
    """The schema in turn, indexed in memory."""
    reader = made.open()
    built = OddDatabase(made.catalog, reader)
    await built.index()
    yield built
    await reader.close()


def made_of(*names: tuple[str, str]) -> pytest.MarkDecorator:
    """The test's schemas, each as kind of database and name."""
    cases = [
        pytest.param((kind, find_odd(kind, name)), id=f"{kind}-{name}") for kind, name in names
    ]
    return pytest.mark.parametrize("made", cases, indirect=True)


@pytest.mark.parametrize("made", list_cases("postgres", "sqlite", "duckdb"), indirect=True)
async def test_each_is_indexed_or_reported_and_can_be_asked_for(
    made: Made, database: OddDatabase
) -> None:
    odd, catalog = made.odd, made.catalog
    found = sorted(table.qualified for table in catalog.tables)
    assert found == sorted(odd.tables) or (catalog.dialect, odd.name) == ("postgres", "keywords")
    assert list_skipped(catalog) == sorted(odd.skipped)
    await database.ask_for_tables()
    walked = await database.ask("How many orders are there?")
    refusal = "" if catalog.tables else f"There is no table in {odd.name} that you may see."
    assert walked.context.refusal == refusal
    # Each name in the prompt is one that the database finds.
    for table in catalog.tables:
        result = await database.read(table)
        is_unreadable = table.qualified in _UNREADABLE
        assert isinstance(result, Diagnostic) is is_unreadable, (result, table.qualified)


# -- index -----------------------------------------------------------------------------------------


@made_of(
    ("postgres", "odd_names"),
    ("postgres", "comments"),
    ("postgres", "wide"),
    ("postgres", "cycles"),
    ("postgres", "dots"),
    ("postgres", "empty"),
    ("sqlite", "odd_names"),
    ("sqlite", "types"),
    ("duckdb", "comments"),
    ("duckdb", "types"),
)
async def test_an_odd_schema_survives_the_index(made: Made, odd_server: EmbeddedServer) -> None:
    store = IndexStore(odd_server.url(INDEX_DATABASE, INDEXER))
    try:
        first = await index_database(made.catalog, store, FakeEmbedder())
        again = await index_database(made.catalog, store, FakeEmbedder())
        assert (first.changed, again.changed, again.embedded) == (True, False, 0)
        assert (await load(store, made.odd.name)).catalog == made.catalog
        assert await store.drop(made.odd.name)
    finally:
        await store.close()


@made_of(
    *((kind, name) for kind in ("postgres", "sqlite", "duckdb") for name in ("odd_names", "types")),
    ("postgres", "all_denied"),
    ("postgres", "columns_denied"),
    ("postgres", "dots"),
    ("postgres", "empty"),
    ("postgres", "kinds"),
    ("postgres", "odd_values"),
    ("postgres", "same_names_on_the_path"),
)
async def test_the_job_with_values_keys_and_glosses_ends_and_reports(
    made: Made, odd_server: EmbeddedServer
) -> None:
    name = made.odd.name
    settings: dict[str, Any] = {
        "default_database": name,
        "databases": {name: made.settings()},
        "index": {"connection": {"url": odd_server.url(INDEX_DATABASE, INDEXER)}},
    }
    wiring = Wiring(parse_settings(settings))
    store = wiring.build_index_store()
    try:
        job = DatabaseJob(wiring, name, store, {})
        report = await run_job(name, job.phases(), store, FakeEmbedder())
        await store.drop(name)
    finally:
        await store.close()
    assert report.tables == len(made.odd.tables)
    assert len(report.skipped) == len(made.odd.skipped)


# -- prompt ----------------------------------------------------------------------------------------


@made_of(("duckdb", "comments"), ("duckdb", "types"), ("sqlite", "types"))
async def test_comments_and_types_stay_short_and_on_their_line(database: OddDatabase) -> None:
    walked = await database.ask("notes")
    ddl, _ = walked.texts
    tables = database.catalog.tables
    columns = sum(len(table.columns) for table in tables)
    assert len(ddl.splitlines()) == columns + 2 * len(tables)
    for line in ddl.splitlines():
        assert len(line) < 400
        assert not line.startswith(("DROP", "-- and"))


@made_of(("duckdb", "comments"), ("duckdb", "types"), ("duckdb", "wide"))
async def test_what_is_embedded_is_cut(database: OddDatabase) -> None:
    assert max(map(len, database.embedder.texts)) <= _LONGEST_EMBEDDED


async def test_the_last_of_1600_columns_is_found_and_shown(tmp_path: Path) -> None:
    decoys = "".join(f"CREATE TABLE decoy_{n} (id INT, size_{n} INT, end_ INT);" for n in range(40))
    odd = OddSchema("among_others", decoys + build_wide("wide", 1600))
    database = OddDatabase(read_file(build_file("duckdb", tmp_path, odd), odd))
    await database.index()
    walked = await database.ask("What is the average shoe size?")
    assert walked.context.tables[0].table.name == "wide"
    settings = parse_settings(
        {
            "default_database": "x",
            "databases": {"x": {"reader": {"url": "duckdb:///x.duckdb"}}},
            "model": {"max_model_len": 2048},
        }
    )
    writer = SchemaWriter(TokenCounts(FakeEngine()), settings)
    written = await writer.write(walked.context, beside=(), answer_tokens=256, plan=walked.plan)
    assert "shoe_size" in written.text
    assert len(written.left_out) > 1000
