"""The tables of a generation of the index; their names end in its number.

They are filled while the previous generation is live, have an HNSW index for this database's
vectors only, and are dropped together. A change of their columns needs a migration that takes the
existing generations out of service; the next build creates them again.
"""

from __future__ import annotations

from psycopg import sql

# Positions count from 0. A table refers to its columns and their cards by position, so that what a
# thousand tables share is stored and read once.
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
    """The query for a generation's size on disk in bytes, search indexes included."""
    sizes = sql.SQL(" + ").join(
        sql.SQL("pg_total_relation_size({}::regclass)").format(
            sql.Literal(f"quorumsql.{part}_{generation}")
        )
        for part in _PARTS
    )
    return sql.SQL("SELECT ({})::bigint").format(sizes)
