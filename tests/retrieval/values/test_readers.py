"""Reading distinct values from real databases of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from execution.guard.guard import SqlGuard
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from retrieval.index_store.value_store import ValueColumn
from retrieval.introspection.duckdb_file import DuckDbSource, read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.postgres.source import PostgresSource
from retrieval.introspection.source_database import SourceDatabase, Unreadable
from retrieval.introspection.sqlite_file import SqliteSource, read_sqlite_catalog
from retrieval.values.search import IndexedValueSearch
from tests.embedded_databases import fill_database
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop
from tests.fakes import FakeCatalogs, FakeIndexStore, FakeVisibility, build_question
from tests.golden import load_text
from tests.retrieval.values.builders import FakeMemory

Kind = tuple[
    Callable[[Path, str], None], Callable[..., Catalog], Callable[[str, Path], SourceDatabase[Any]]
]
"""How a file is written, its schema read, and its values."""
SQLITE: Kind = (sqlite_shop.write, read_sqlite_catalog, SqliteSource)
DUCKDB: Kind = (duckdb_shop.write, read_duckdb_catalog, DuckDbSource)


def survey(reader: SourceDatabase[Any], catalog: Catalog) -> dict[str, str]:
    """Column → mark of all columns that may be read."""
    found = reader.survey(catalog.tables, most=100, longest=50)
    return {column.qualified: column.mark for column in found if not column.objection}


def read(
    reader: SourceDatabase[Any], catalog: Catalog, table: str, column: str, timeout_ms: int = 5000
) -> set[str]:
    found = catalog.table(table)
    assert found is not None
    values = reader.read(found, column, most=100, longest=50, timeout_ms=timeout_ms)
    assert not isinstance(values, Unreadable), values
    return set(values)


_SCHEMA = load_text("schemas/odd_values.sql")
_RIGHTS = f"""
REVOKE SELECT ON "Odd ""T" FROM {READER};
GRANT SELECT ("Größe 🙂", code, m, s, n, d, j, tags) ON "Odd ""T" TO {READER};
"""


@pytest.fixture(scope="module")
def postgres(embedded_server: EmbeddedServer) -> Iterator[tuple[str, str]]:
    """The URLs of the owner and of the reader."""
    with fill_database(embedded_server, "odd_values", _SCHEMA, _RIGHTS) as owner:
        yield owner, embedded_server.url("odd_values", READER)


def read_catalog(url: str) -> Catalog:
    return read_postgres_catalog(url, database="odd_values", reader_role=READER)


def test_postgres_reads_text_of_every_kind_as_the_reader(postgres: tuple[str, str]) -> None:
    catalog = read_catalog(postgres[0])
    with PostgresSource("odd_values", lambda: catalog, lambda: (postgres[1], "")) as reader:
        odd = 'public.Odd "T'
        assert set(survey(reader, catalog)) == {
            f"{odd}.Größe 🙂",
            f"{odd}.code",
            f"{odd}.m",
            f"{odd}.s",
            "public.parts.region",
            "public.bases.region",
            "public.heirs.region",
            "public.spread.region",
            "public.kept.region",
            "public.secured.name",
        }
        assert read(reader, catalog, odd, "Größe 🙂") == {"x0", "x1", "x2"}
        assert read(reader, catalog, odd, "code") == {"AB"}
        assert read(reader, catalog, odd, "m") == {"it's ok"}
        assert read(reader, catalog, "public.parts", "region") == {"north", "south"}


async def test_a_code_that_postgres_pads_is_told_as_it_is_indexed(
    postgres: tuple[str, str],
) -> None:
    catalog = read_catalog(postgres[0])
    database = PostgresDatabase("odd_values", postgres[1], LimitSettings())
    search = IndexedValueSearch(
        FakeMemory(ValueColumn('public.Odd "T', "code", ("AB",))),
        FakeVisibility(FakeIndexStore(), open_columns=[]),
        SqlGuard(FakeCatalogs(catalog)),
        database,
    )
    asked = build_question(text="those of 'AB'", database="odd_values")
    assert [match.value for match in await search.match(asked, catalog)] == ["AB"]
    await database.close()


def test_postgres_reports_what_is_forbidden_or_slow_and_goes_on(
    postgres: tuple[str, str],
) -> None:
    catalog = read_catalog(postgres[0])
    odd, secured = catalog.table('public.Odd "T'), catalog.table("public.secured")
    assert odd is not None
    assert secured is not None
    with PostgresSource("odd_values", lambda: catalog, lambda: (postgres[1], "")) as reader:
        forbidden = reader.read(odd, "secret", most=9, longest=9, timeout_ms=1000)
        assert isinstance(forbidden, Unreadable)
        assert "permission denied" in forbidden.reason
        slow = reader.read(secured, "name", most=9, longest=9, timeout_ms=100)
        assert slow == Unreadable("took longer than 100 ms", timed_out=True)
        assert read(reader, catalog, "public.parts", "region") == {"north", "south"}


@pytest.mark.parametrize(
    ("kind", "script", "found"),
    [
        (
            SQLITE,
            """
            CREATE TABLE "Odd ""T" (name varchar(20), n integer, loose, "to" text);
            INSERT INTO "Odd ""T" VALUES ('Ann', 1, 'text', 'x'), ('Bea', 2, 3, 4),
                ('Ann', 3, '', 5);
            CREATE VIEW seen AS SELECT name FROM "Odd ""T";
            """,
            {"name": {"Ann", "Bea"}, "loose": {"text"}, "to": {"x", "4", "5"}},
        ),
        (
            DUCKDB,
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s [odd]');
            CREATE TABLE "Odd ""T" (name text, m mood, n int, l text[], a mood[]);
            INSERT INTO "Odd ""T" VALUES ('Ann', 'ok', 1, ['a'], ['ok']), ('', NULL, 2, [], []);
            CREATE VIEW seen AS SELECT name FROM "Odd ""T";
            """,
            {"name": {"Ann"}, "m": {"ok"}},
        ),
    ],
    ids=["sqlite", "duckdb"],
)
def test_of_a_file_text_is_read_until_it_changes(
    kind: Kind, script: str, found: dict[str, set[str]], tmp_path: Path
) -> None:
    write, read_file, source = kind
    path, odd = tmp_path / "a.db", 'main.Odd "T'
    write(path, script)
    catalog = read_file(path, database="a")
    with source("a", path) as reader:
        marks = survey(reader, catalog)
        columns = [name.removeprefix(f"{odd}.") for name in marks]
        assert {name: read(reader, catalog, odd, name) for name in columns} == found
    write(path, """INSERT INTO "Odd ""T" (name) VALUES ('Cy')""")
    with source("a", path) as reader:
        assert survey(reader, catalog) != marks


def test_postgres_notices_which_table_has_changed(
    postgres: tuple[str, str], embedded_server: EmbeddedServer
) -> None:
    (owner, url), superuser = postgres, embedded_server.url("odd_values", SUPERUSER)
    catalog = read_catalog(owner)
    with PostgresSource("odd_values", lambda: catalog, lambda: (url, "")) as reader:
        before = survey(reader, catalog)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("INSERT INTO parts VALUES (3, 'south')")
        connection.execute("INSERT INTO heirs VALUES ('west')")
        connection.execute("SELECT pg_stat_force_next_flush()")
        connection.execute("REFRESH MATERIALIZED VIEW kept")
    with PostgresSource("odd_values", lambda: catalog, lambda: (url, "")) as reader:
        after = survey(reader, catalog)
    assert {name for name in before if before[name] != after[name]} == {
        "public.parts.region",
        "public.bases.region",
        "public.heirs.region",
        "public.kept.region",
    }
    # Changes of foreign tables are not counted, and of none if the counters are off.
    assert [name for name, mark in after.items() if not mark] == ["public.spread.region"]
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("ALTER DATABASE odd_values SET track_counts = off")
    with PostgresSource("odd_values", lambda: catalog, lambda: (url, "")) as reader:
        assert set(survey(reader, catalog).values()) == {""}
