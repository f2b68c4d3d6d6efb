"""What SQLite may do for one statement, with no guard before it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from execution.sqlite.authorizer import build_authorizer
from tests.golden import load_cases, load_text

SCHEMA = load_text("schemas/authorized.sql")


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.executescript(SCHEMA)
        yield opened


def is_allowed(
    connection: sqlite3.Connection, sql: str, *tables: str, columns: frozenset[str] | None = None
) -> bool:
    connection.set_authorizer(build_authorizer(connection, tables, columns))
    try:
        connection.execute(sql).fetchall()
    except sqlite3.DatabaseError as error:
        if "not authorized" in str(error) or "prohibited" in str(error):
            return False
        raise
    finally:
        connection.set_authorizer(None)
    return True


@pytest.mark.parametrize("sql", [sql for _, sql in load_cases("statements_sqlite")])
def test_the_tables_of_a_statement_are_read(connection: sqlite3.Connection, sql: str) -> None:
    assert is_allowed(connection, sql, "main.staff")


def test_a_view_reads_what_it_reads_and_calls_what_it_calls(connection: sqlite3.Connection) -> None:
    assert is_allowed(connection, "SELECT word, v FROM words", "main.words")
    assert is_allowed(connection, "SELECT word FROM WORDS", "main.words")
    assert is_allowed(connection, "SELECT word FROM outer_view", "main.outer_view")
    assert is_allowed(connection, "SELECT id FROM `odd``view`", "main.odd`view")
    assert not is_allowed(connection, "SELECT id FROM staff", "main.words")
    assert not is_allowed(connection, "SELECT name FROM schema_view", "main.schema_view")
    assert not is_allowed(connection, "SELECT name FROM sqlite_master", "main.schema_view")


def test_only_the_columns_of_a_statement_are_read(connection: sqlite3.Connection) -> None:
    columns = frozenset({"main.staff.id", "main.staff.name"})

    def judge(sql: str, *tables: str) -> bool:
        return is_allowed(connection, sql, *(tables or ("main.staff",)), columns=columns)

    assert judge("SELECT id, NAME FROM staff")
    assert judge("SELECT count(*) FROM staff")
    assert judge("SELECT value FROM json_each('[1]')")
    assert judge("SELECT id FROM staff WHERE name = 'a' ORDER BY name")
    assert not judge("SELECT pay FROM staff")
    assert not judge("SELECT id FROM staff WHERE pay > 1")
    assert not judge("SELECT id FROM staff ORDER BY pay")
    assert not judge("SELECT * FROM staff")
    assert not judge("SELECT word FROM secrets", "main.staff", "main.secrets")


def test_a_view_reads_its_columns_and_the_statement_does_not(
    connection: sqlite3.Connection,
) -> None:
    columns = frozenset({"main.words.word", "main.outer_view.word"})
    tables = ("main.outer_view", "main.words", "main.secrets")
    for sql, expected in (
        ("SELECT word FROM words", True),
        ("WITH c AS (SELECT word FROM outer_view) SELECT x.word FROM c AS x, c", True),
        ("SELECT word FROM secrets", False),
        ("SELECT s.id FROM words AS w, secrets AS s", False),
        ("WITH c AS (SELECT word FROM secrets) SELECT word FROM c, words", False),
    ):
        assert is_allowed(connection, sql, *tables, columns=columns) is expected, sql


def test_what_sqlite_does_not_name_is_denied(connection: sqlite3.Connection) -> None:
    authorize = build_authorizer(connection, ["main.staff"])
    for action in (sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_READ):
        assert authorize(action, None, None, "main", None) == sqlite3.SQLITE_DENY


def test_a_table_called_like_a_function_is_a_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE json_each (value INTEGER)")
    assert not is_allowed(connection, "SELECT value FROM json_each", "main.staff")
    assert is_allowed(connection, "SELECT value FROM json_each", "main.json_each")
