"""Reading distinct values from real databases of each kind."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.catalog import Catalog
from retrieval.introspection.duckdb_file import DuckDbSource, read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.postgres.source import PostgresSource
from retrieval.introspection.source_database import SourceDatabase, Unreadable
from retrieval.introspection.sqlite_file import SqliteSource, read_sqlite_catalog


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


@pytest.fixture(scope="module")
def postgres(embedded_server: EmbeddedServer) -> tuple[str, str]:
    """The URLs of the owner and of the reader."""
    embedded_server.drop_database("odd_values")
    embedded_server.create_database("odd_values")
    owner = embedded_server.url("odd_values", "postgres")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(
            f"""
            CREATE TYPE mood AS ENUM ('sad', 'it''s ok');
            CREATE DOMAIN short AS varchar(9);
            CREATE TABLE "Odd ""T" ("Größe 🙂" text, code char(3), m mood, s short, n int,
                d date, j jsonb, tags text[], secret text);
            INSERT INTO "Odd ""T" SELECT 'x' || i % 3, 'AB', 'it''s ok', 'dom', i, now(), '{{}}',
                '{{a}}', 'hush' FROM generate_series(1, 9) i;
            INSERT INTO "Odd ""T" ("Größe 🙂") VALUES (''), (repeat('y', 60)), (NULL);
            CREATE TABLE parts (id int, region text) PARTITION BY LIST (region);
            CREATE TABLE parts_n PARTITION OF parts FOR VALUES IN ('north');
            CREATE TABLE parts_s PARTITION OF parts FOR VALUES IN ('south');
            INSERT INTO parts VALUES (1, 'north'), (2, 'south');
            CREATE VIEW seen AS SELECT region FROM parts;
            CREATE MATERIALIZED VIEW kept AS SELECT region FROM parts;
            CREATE TABLE big (id text);
            INSERT INTO big SELECT i::text || 'x' FROM generate_series(1, 2000) i;
            ANALYZE big;
            CREATE FUNCTION slow(t text) RETURNS text LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_sleep(2); RETURN t; END';
            CREATE TABLE secured (name text);
            INSERT INTO secured VALUES ('a');
            GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER};
            REVOKE SELECT ON "Odd ""T" FROM {READER};
            GRANT SELECT ("Größe 🙂", code, m, s, n, d, j, tags) ON "Odd ""T" TO {READER};
            ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
            CREATE POLICY slowly ON secured USING (slow(name) = 'a');
            """
        )
    return owner, embedded_server.url("odd_values", READER)


def read_catalog(url: str) -> Catalog:
    return read_postgres_catalog(url, database="odd_values", reader_role=READER)


def test_postgres_reads_text_of_every_kind_as_the_reader(postgres: tuple[str, str]) -> None:
    catalog = read_catalog(postgres[0])
    with PostgresSource("odd_values", postgres[1]) as reader:
        odd = 'public.Odd "T'
        assert set(survey(reader, catalog)) == {
            f"{odd}.Größe 🙂",
            f"{odd}.code",
            f"{odd}.m",
            f"{odd}.s",
            "public.parts.region",
            "public.kept.region",
            "public.secured.name",
        }
        assert read(reader, catalog, odd, "Größe 🙂") == {"x0", "x1", "x2"}
        assert read(reader, catalog, odd, "code") == {"AB"}
        assert read(reader, catalog, odd, "m") == {"it's ok"}
        assert read(reader, catalog, "public.parts", "region") == {"north", "south"}


def test_postgres_reports_what_is_forbidden_or_slow_and_goes_on(
    postgres: tuple[str, str],
) -> None:
    catalog = read_catalog(postgres[0])
    odd, secured = catalog.table('public.Odd "T'), catalog.table("public.secured")
    assert odd is not None
    assert secured is not None
    with PostgresSource("odd_values", postgres[1]) as reader:
        forbidden = reader.read(odd, "secret", most=9, longest=9, timeout_ms=1000)
        assert isinstance(forbidden, Unreadable)
        assert "permission denied" in forbidden.reason
        slow = reader.read(secured, "name", most=9, longest=9, timeout_ms=100)
        assert slow == Unreadable("took longer than 100 ms", timed_out=True)
        assert read(reader, catalog, "public.parts", "region") == {"north", "south"}


def test_sqlite_reads_text_and_leaves_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE "Odd ""T" (name varchar(20), n integer, loose, "to" text);
            INSERT INTO "Odd ""T" VALUES ('Ann', 1, 'text', 'x'), ('Bea', 2, 3, 4),
                ('Ann', 3, '', 5);
            CREATE VIEW seen AS SELECT name FROM "Odd ""T";
            """
        )
    catalog = read_sqlite_catalog(path, database="a")
    with SqliteSource("a", path) as reader:
        marks = survey(reader, catalog)
        odd = 'main.Odd "T'
        assert set(marks) == {f"{odd}.name", f"{odd}.loose", f"{odd}.to"}
        assert read(reader, catalog, odd, "name") == {"Ann", "Bea"}
        assert read(reader, catalog, odd, "loose") == {"text"}
    with sqlite3.connect(path) as connection:
        connection.execute("""INSERT INTO "Odd ""T" (name) VALUES ('Cy')""")
    with SqliteSource("a", path) as reader:
        assert survey(reader, catalog) != marks


def test_duckdb_reads_text_and_enumerations(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s [odd]')")
        connection.execute(
            'CREATE TABLE s."Odd ""T" (name text, m mood, n int, l text[], a mood[])'
        )
        connection.execute(
            """INSERT INTO s."Odd ""T"
               VALUES ('Ann', 'ok', 1, ['a'], ['ok']), ('', NULL, 2, [], [])"""
        )
        connection.execute("""CREATE VIEW s.seen AS SELECT name FROM s."Odd ""T" """)
    catalog = read_duckdb_catalog(path, database="a")
    with DuckDbSource("a", path) as reader:
        odd = 's.Odd "T'
        assert set(survey(reader, catalog)) == {f"{odd}.name", f"{odd}.m"}
        assert read(reader, catalog, odd, "name") == {"Ann"}
        assert read(reader, catalog, odd, "m") == {"ok"}


def test_postgres_notices_which_table_has_changed(postgres: tuple[str, str]) -> None:
    owner, url = postgres
    catalog = read_catalog(owner)
    with PostgresSource("odd_values", url) as reader:
        before = survey(reader, catalog)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("INSERT INTO parts VALUES (3, 'south')")
        connection.execute("SELECT pg_stat_force_next_flush()")
        connection.execute("REFRESH MATERIALIZED VIEW kept")
    with PostgresSource("odd_values", url) as reader:
        after = survey(reader, catalog)
    assert {name for name in before if before[name] != after[name]} == {
        "public.parts.region",
        "public.kept.region",
    }
