"""The tables of the index, and the number of their layout.

Fixed tables say which generation of each database's index is live and hold what outlives it. Each
generation has tables of its own, named by its number: they are filled beside the live ones, get an
HNSW index that holds no other database's vectors, and are dropped in one piece.
"""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection, sql

from nl2sql.errors import IndexUnavailable
from retrieval.index_store.example_store import TABLES as EXAMPLE_TABLES
from retrieval.index_store.gloss_store import TABLES as GLOSS_TABLES
from retrieval.index_store.session_store import TABLES as SESSION_TABLES
from retrieval.index_store.value_store import TABLES as VALUE_TABLES

# Raise it with every change to a table below, or to those of the values and the examples.
LAYOUT = 2

_TABLES = """
CREATE TABLE IF NOT EXISTS quorumsql.layout (version int NOT NULL);

CREATE TABLE IF NOT EXISTS quorumsql.generations (
    generation     int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    database       text NOT NULL,
    live           boolean NOT NULL,
    version        text NOT NULL,
    fingerprint    text NOT NULL,
    embedder       text NOT NULL,
    dimensions     int NOT NULL,
    dialect        text NOT NULL,
    search_path    text[] NOT NULL,
    tables         int NOT NULL,
    columns        int NOT NULL,
    column_cards   int NOT NULL,
    foreign_keys   int NOT NULL,
    inferred_keys  int NOT NULL,
    indexed_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX IF NOT EXISTS one_live_generation
    ON quorumsql.generations (database) WHERE live;

-- What a run has embedded and no index holds yet: an interrupted run goes on from here.
CREATE TABLE IF NOT EXISTS quorumsql.pending_vectors (
    database  text NOT NULL,
    embedder  text NOT NULL,
    sha256    bytea NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (database, embedder, sha256)
);
"""

FIXED_TABLES = (_TABLES, VALUE_TABLES, GLOSS_TABLES, EXAMPLE_TABLES, SESSION_TABLES)

# Positions count from 0. A table names its columns and their cards by position: what a thousand
# tables share is stored and read once.
_GENERATION = """
CREATE TABLE {column_defs} (
    position int NOT NULL, name text NOT NULL, type text NOT NULL,
    nullable boolean NOT NULL, comment text NOT NULL
);
CREATE TABLE {table_defs} (
    position int NOT NULL, schema text NOT NULL, name text NOT NULL, kind text NOT NULL,
    comment text NOT NULL, definition text NOT NULL, primary_key text[] NOT NULL,
    columns int[] NOT NULL, column_cards int[] NOT NULL,
    summary text NOT NULL, card text NOT NULL, sha256 bytea NOT NULL
);
CREATE TABLE {column_cards} (position int NOT NULL, card text NOT NULL, sha256 bytea NOT NULL);
CREATE TABLE {foreign_keys} (
    position int NOT NULL, name text NOT NULL, table_name text NOT NULL, columns text[] NOT NULL,
    target text NOT NULL, target_columns text[] NOT NULL, inferred boolean NOT NULL
);
CREATE TABLE {table_vectors} (
    position int PRIMARY KEY, sha256 bytea NOT NULL, embedding {halfvec} NOT NULL
);
CREATE TABLE {column_vectors} (
    position int PRIMARY KEY, sha256 bytea NOT NULL, embedding {halfvec} NOT NULL
);
"""

_PARTS = (
    "column_defs",
    "table_defs",
    "column_cards",
    "foreign_keys",
    "table_vectors",
    "column_vectors",
)


def name_part(part: str, generation: int) -> sql.Identifier:
    """The quoted name of one table of a generation."""
    return sql.Identifier("quorumsql", f"{part}_{generation}")


def create_generation(generation: int, dimensions: int) -> sql.Composed:
    """The statements that create the tables of a generation."""
    halfvec = sql.SQL("halfvec({})").format(dimensions) if dimensions else sql.SQL("halfvec")
    names = {part: name_part(part, generation) for part in _PARTS}
    return sql.SQL(_GENERATION).format(**names, halfvec=halfvec)


def drop_generation(generation: int) -> sql.Composed:
    """The statement that drops the tables of a generation."""
    names = sql.SQL(", ").join(name_part(part, generation) for part in _PARTS)
    return sql.SQL("DROP TABLE IF EXISTS {}").format(names)


def measure_generation(generation: int) -> sql.Composed:
    """The query for the bytes that a generation takes on disk, its search indexes included."""
    sizes = sql.SQL(" + ").join(
        sql.SQL("pg_total_relation_size({}::regclass)").format(
            sql.Literal(f"quorumsql.{part}_{generation}")
        )
        for part in _PARTS
    )
    return sql.SQL("SELECT ({})::bigint").format(sizes)


async def check_layout(connection: AsyncConnection[Any]) -> None:
    """Raises IndexUnavailable unless the index is there and this code understands it."""
    found = await read_layout(connection)
    if found is None:
        raise IndexUnavailable(
            "The index has not been set up.", hint="Run `quorumsql index build`."
        )
    if found != LAYOUT:
        raise IndexUnavailable(
            f"The index has layout {found}; this version of QuorumSQL uses {LAYOUT}.",
            hint="Run `quorumsql index drop --all`, then `quorumsql index build`.",
        )


async def read_layout(connection: AsyncConnection[Any]) -> int | None:
    """The number of the layout that is there; None without one. The first had no number."""
    cursor = await connection.execute(
        "SELECT to_regclass('quorumsql.layout') IS NOT NULL,"
        " to_regclass('quorumsql.databases') IS NOT NULL"
    )
    numbered, first = await cursor.fetchone() or (False, False)
    if not numbered:
        return 1 if first else None
    row = await (await connection.execute("SELECT version FROM quorumsql.layout")).fetchone()
    return row[0] if row else None
