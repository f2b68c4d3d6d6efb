"""Reads a PostgreSQL schema from ``pg_catalog`` with a fixed number of queries.

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

_SCHEMAS = """
SELECT n.nspname AS name,
       EXISTS (SELECT FROM unnest(%(readers)s::oid[]) AS r
                WHERE has_schema_privilege(r, n.oid, 'USAGE')) AS is_open,
       count(c.oid) > 0 AS is_used,
       coalesce(bool_or((SELECT bool_or(has_any_column_privilege(r, c.oid, 'SELECT'))
                           FROM unnest(%(readers)s::oid[]) AS r)), false) AS is_granted
  FROM pg_namespace n
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 WHERE n.nspname <> ALL (%(system)s)
   AND n.nspname NOT LIKE 'pg\\_%%'
   AND (cardinality(%(schemas)s::text[]) = 0 OR n.nspname = ANY (%(schemas)s))
 GROUP BY n.oid, n.nspname
 ORDER BY n.nspname
"""

_FOREIGN_KEYS = """
SELECT k.conname AS name, sn.nspname AS schema, s.relname AS "table",
       tn.nspname AS target_schema, t.relname AS target,
       (SELECT array_agg(a.attname ORDER BY u.ord)
          FROM unnest(k.conkey) WITH ORDINALITY AS u(attnum, ord)
          JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum)::text[]
         AS columns,
       (SELECT array_agg(a.attname ORDER BY u.ord)
          FROM unnest(k.confkey) WITH ORDINALITY AS u(attnum, ord)
          JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.attnum)::text[]
         AS target_columns
  FROM pg_constraint k
  JOIN pg_class s ON s.oid = k.conrelid JOIN pg_namespace sn ON sn.oid = s.relnamespace
  JOIN pg_class t ON t.oid = k.confrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
 WHERE k.contype = 'f' AND k.conparentid = 0
 ORDER BY 2, 3, 1
"""

_ROLES = "SELECT oid, rolname FROM pg_roles WHERE rolname = ANY (%s)"

# The search path of the reader's URL, else its own here, else the server's usual one, with its name
# for "$user".
_SEARCH_PATH = """
SELECT set_config('search_path', replace(coalesce(nullif(%(path)s, ''),
  (SELECT split_part(setting, '=', 2)
     FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS setting
    WHERE setting LIKE 'search_path=%%' AND s.setrole IN (0, %(reader)s)
      AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ORDER BY s.setrole = 0, s.setdatabase = 0 LIMIT 1),
  '"$user", public'), '"$user"', quote_ident(%(name)s::text)), true)
"""

_CONNECT_TIMEOUT_S = 5
# The product's own schema is never indexed.
_SYSTEM_SCHEMAS = ["information_schema", "quorumsql"]

_Row = Mapping[str, Any]


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
    parameters: dict[str, Any] = {
        "schemas": list(schemas),
        "system": _SYSTEM_SCHEMAS,
    }
    try:
        with connect(url, database, row_factory=dict_row) as connection:
            # So that names in views and types are qualified, whatever the role's search path is.
            connection.execute("SET LOCAL search_path = ''")
            roles = connection.execute(_ROLES, [[reader_role, index_role]]).fetchall()
            if reader_role not in {role["rolname"] for role in roles}:
                raise DatabaseUnavailable(
                    f"The role {reader_role!r} does not exist in {database}.",
                    database=database,
                    hint="`quorumsql doctor` prints the statements that create it.",
                )
            parameters["readers"] = [role["oid"] for role in roles]
            reader = next(role["oid"] for role in roles if role["rolname"] == reader_role)
            own = {"reader": reader, "name": reader_role, "path": search_path}
            connection.execute(_SEARCH_PATH, own)
            row = connection.execute("SELECT current_schemas(false)::text[] AS path").fetchone()
            path = row["path"] if row else []
            connection.execute("SET LOCAL search_path = ''")
            tables = files(__package__).joinpath("tables.sql").read_bytes()
            found = connection.execute(_SCHEMAS, parameters).fetchall()
            rows = connection.execute(tables, parameters).fetchall()
            key_rows = connection.execute(_FOREIGN_KEYS).fetchall()
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
        or tuple(dict.fromkeys(name for name in (*path, *modules) if name in modules))
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
