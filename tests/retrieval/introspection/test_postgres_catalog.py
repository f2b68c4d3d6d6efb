"""A PostgreSQL schema is read as the reader may see it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.errors import DatabaseUnavailable
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.embedded_databases import fill_database
from tests.golden import load_text

_SCHEMA = load_text("schemas/odd_tables.sql")


@pytest.fixture
def odd_database(embedded_server: EmbeddedServer) -> Iterator[str]:
    """A database with what a schema may hold besides plain tables."""
    with fill_database(embedded_server, "odd", _SCHEMA) as url:
        yield url


def read(url: str) -> Catalog:
    return read_postgres_catalog(url, database="odd", reader_role=READER)


def test_reads_keys_comments_and_kinds(odd_database: str) -> None:
    catalog = read(odd_database)
    tables = {table.name: table for table in catalog.tables}
    assert tables["tree"].comment == "It's a tree"
    assert tables["tree"].columns[1].comment == "Up"
    assert tables["pair"].primary_key == ("a", "b")
    assert {tables[name].kind for name in ("seen", "kept", "parent_p")} == {
        "view",
        "materialized view",
        "table",
    }
    keys = {key.table: key for key in catalog.foreign_keys}
    assert keys["public.tree"].target == "public.tree"
    assert (keys["public.leaf"].columns, keys["public.leaf"].target_columns) == (
        ("y", "x"),
        ("b", "a"),
    )


def test_the_labels_of_an_enumeration_are_part_of_the_comment(odd_database: str) -> None:
    task = read(odd_database).table("public.task")
    assert task is not None
    assert [column.comment for column in task.columns] == [
        "one of 'open', 'won''t do'",
        "Since May; one of 'open', 'won''t do'",
    ]


def test_a_role_that_does_not_exist_is_named(odd_database: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="nobody"):
        read_postgres_catalog(odd_database, database="odd", reader_role="nobody")


@pytest.mark.parametrize(
    ("own", "path"),
    [
        ("", ("public", "archive", "sales")),
        (f"ALTER ROLE {READER} IN DATABASE odd SET search_path = sales, nowhere, public", None),
        (f"ALTER DATABASE odd SET search_path = sales, public, {READER}", None),
    ],
    ids=["usual", "of the role", "of the database"],
)
def test_a_name_of_several_schemas_means_what_it_means_to_the_reader(
    odd_database: str, own: str, path: tuple[str, ...] | None
) -> None:
    with psycopg.connect(odd_database, autocommit=True) as connection:
        for schema in ("archive", "sales"):
            connection.execute(f"CREATE SCHEMA {schema}".encode())
            connection.execute(f"CREATE TABLE {schema}.tree (id int)".encode())
            connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {READER}".encode())
            connection.execute(f"GRANT SELECT ON {schema}.tree TO {READER}".encode())
        connection.execute(own.encode())
    catalog = read(odd_database)
    assert catalog.search_path == (path or ("sales", "public", "archive"))
    with psycopg.connect(odd_database.replace("postgres@", f"{READER}@")) as connection:
        row = connection.execute("SELECT 'tree'::regclass::oid").fetchone()
        found = connection.execute(
            f"SELECT '{catalog.search_path[0]}.tree'::regclass::oid".encode()
        ).fetchone()
    assert row == found
    aimed = read_postgres_catalog(
        odd_database, database="odd", reader_role=READER, search_path='archive,"$user",public'
    )
    assert aimed.search_path == ("archive", "public", "sales")
    named = read_postgres_catalog(
        odd_database, database="odd", reader_role=READER, schemas=("archive", "public")
    )
    assert named.search_path == ("archive", "public")
