"""Reads a PostgreSQL schema from ``pg_catalog`` by a fixed number of queries, ``*.sql`` beside it.

Only columns that the reading role may SELECT are included, so that nothing else can reach an index,
a prompt or the guard's allowlist. The labels of an enumeration are part of the comment. System
schemas and partitions are left out (the partitioned table represents them); a column of a domain
has the type beneath it; everything else that is left out is listed in ``Catalog.skipped``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import psycopg
from psycopg.rows import dict_row

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.connection_failures import explain_failure
from nl2sql.errors import DatabaseUnavailable
from retrieval.introspection.assembly import assemble_catalog, find_reads
from retrieval.introspection.postgres.skipped import (
    list_skipped_columns,
    list_skipped_schemas,
    list_skipped_tables,
)

_KINDS = {"r": "table", "p": "table", "v": "view", "m": "materialized view", "f": "foreign table"}

_ROLES = "SELECT oid, rolname FROM pg_roles WHERE rolname = ANY (%s)"

_CONNECT_TIMEOUT_S = 5
# The product's own schema is never indexed.
_SYSTEM_SCHEMAS = ["information_schema", "quorumsql"]

_Row = Mapping[str, Any]


def read_sql(name: str) -> bytes:
    """The query in a file beside this one."""
    return files(__package__).joinpath(name).read_bytes()


def connect(url: str, database: str, **options: Any) -> psycopg.Connection[Any]:
    """A connection with these options of psycopg. Raises DatabaseUnavailable."""
    try:
        return psycopg.connect(url, connect_timeout=_CONNECT_TIMEOUT_S, **options)
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"The database {database!r} does not answer.",
            database=database,
            said=explain_failure(error),
        ) from error


def read_postgres_catalog(
    url: str,
    *,
    database: str,
    reader_role: str,
    search_path: str = "",
    index_role: str = "",
    schemas: tuple[str, ...] = (),
) -> Catalog:
    """The catalog of the database at ``url``, limited to what ``reader_role`` may SELECT.

    Includes what ``index_role``, if it exists, may SELECT: with row-level security the reader
    itself may SELECT nothing. The search path is ``schemas``, or that of ``reader_role``
    (``search_path``, if its URL sets one) and then all other schemas: so a name that several
    schemas have means what it does there. Raises DatabaseUnavailable if the server does not answer
    or the reader's role does not exist.
    """
    try:
        with connect(url, database, row_factory=dict_row) as connection:
            # So that names in views and types are qualified, whatever the role's search path is.
            connection.execute("SET LOCAL search_path = ''")
            rows = connection.execute(_ROLES, [[reader_role, index_role]]).fetchall()
            roles = {row["rolname"]: row["oid"] for row in rows}
            if reader_role not in roles:
                raise DatabaseUnavailable(
                    f"The role {reader_role!r} does not exist in {database}.",
                    database=database,
                    hint="`quorumsql doctor` prints the statements that create it.",
                )
            own = {"reader": roles[reader_role], "name": reader_role, "path": search_path}
            connection.execute(read_sql("search_path.sql"), own)
            [path] = connection.execute("SELECT current_schemas(false)::text[] AS names").fetchall()
            connection.execute("SET LOCAL search_path = ''")
            parameters = {
                "schemas": list(schemas),
                "system": _SYSTEM_SCHEMAS,
                "readers": list(roles.values()),
            }
            found = connection.execute(read_sql("schemas.sql"), parameters).fetchall()
            rows = connection.execute(read_sql("tables.sql"), parameters).fetchall()
            key_rows = connection.execute(read_sql("foreign_keys.sql")).fetchall()
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"Cannot read the catalog of {database}: {str(error).strip()}", database=database
        ) from error
    left_out = list_skipped_tables(rows, _KINDS, reader_role)
    rows = [row for row in rows if (row["schema"], row["name"]) not in left_out]
    modules = dict.fromkeys(row["schema"] for row in rows)
    return assemble_catalog(
        database,
        "postgres",
        map(_build_table, rows),
        map(_build_key, key_rows),
        search_path=tuple(name for name in schemas if name in modules)
        or tuple(dict.fromkeys(name for name in (*path["names"], *modules) if name in modules))
        or ("public",),
        skipped=(
            *list_skipped_schemas(found, schemas, reader_role),
            *left_out.values(),
            *list_skipped_columns(rows, reader_role),
        ),
    )


def _build_table(row: _Row) -> Table:
    names = [column["name"] for column in row["columns"]]
    columns = tuple(
        Column(**{**column, "reads": find_reads(column["reads"] or "", names)})
        for column in row["columns"]
    )
    key = tuple(row["primary_key"] or ())
    return Table(
        schema=row["schema"],
        name=row["name"],
        columns=columns,
        # A part of a key is not unique.
        primary_key=key if {column.name for column in columns} >= set(key) else (),
        comment=row["comment"],
        kind=_KINDS[row["kind"]],
        definition=row["definition"],
        ancestors=tuple(row["ancestors"] or ()),
    )


def _build_key(row: _Row) -> ForeignKey:
    return ForeignKey(
        row["name"],
        f"{row['schema']}.{row['table']}",
        tuple(row["columns"]),
        f"{row['target_schema']}.{row['target']}",
        tuple(row["target_columns"]),
    )
