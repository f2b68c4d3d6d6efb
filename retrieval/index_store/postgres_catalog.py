"""Reads a PostgreSQL schema from ``pg_catalog``: two queries, however many tables there are.

Only what the reading role may SELECT is seen, column by column, so that nothing else can reach an
index, a prompt or the guard's allowlist. System schemas and partitions are left out (a partitioned
table stands for its partitions).
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import dict_row

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.errors import DatabaseUnavailable

_KINDS = {"r": "table", "p": "table", "v": "view", "m": "materialized view", "f": "foreign table"}

_TABLES = """
SELECT n.nspname AS schema, c.relname AS name, c.relkind::text AS kind,
       coalesce(obj_description(c.oid, 'pg_class'), '') AS comment,
       CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) ELSE '' END AS definition,
       (SELECT array_agg(a.attname ORDER BY k.ord)
          FROM pg_constraint p
          CROSS JOIN LATERAL unnest(p.conkey) WITH ORDINALITY AS k(attnum, ord)
          JOIN pg_attribute a ON a.attrelid = p.conrelid AND a.attnum = k.attnum
         WHERE p.conrelid = c.oid AND p.contype = 'p')::text[] AS primary_key,
       (SELECT jsonb_agg(jsonb_build_object(
                 'name', a.attname,
                 'type', format_type(a.atttypid, a.atttypmod),
                 'nullable', NOT a.attnotnull,
                 'comment', coalesce(col_description(c.oid, a.attnum), '')) ORDER BY a.attnum)
          FROM pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           AND has_column_privilege(%(reader)s, c.oid, a.attnum, 'SELECT')) AS columns
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND NOT c.relispartition
   AND n.nspname <> ALL (%(hidden)s)
   AND n.nspname NOT LIKE 'pg\\_%%'
   AND (cardinality(%(schemas)s::text[]) = 0 OR n.nspname = ANY (%(schemas)s))
   AND has_schema_privilege(%(reader)s, n.oid, 'USAGE')
 ORDER BY n.nspname, c.relname
"""

_FOREIGN_KEYS = """
SELECT k.conname AS name,
       sn.nspname || '.' || s.relname AS "table",
       tn.nspname || '.' || t.relname AS target,
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
 ORDER BY 2, 1
"""

# The product's own schema is never part of what may be asked about.
_HIDDEN_SCHEMAS = ["information_schema", "quorumsql"]


def read_postgres_catalog(
    url: str, *, database: str, reader_role: str, schemas: tuple[str, ...] = ()
) -> Catalog:
    """The catalog of the database at ``url``, as far as ``reader_role`` may SELECT it.

    Raises DatabaseUnavailable when the server does not answer, and when the role does not exist.
    """
    parameters = {"reader": reader_role, "schemas": list(schemas), "hidden": _HIDDEN_SCHEMAS}
    try:
        with psycopg.connect(url, connect_timeout=5, row_factory=dict_row) as connection:
            # So that views and types are spelled with their schemas, whatever the role's own path.
            connection.execute("SET search_path = ''")
            tables = connection.execute(_TABLES, parameters).fetchall()
            foreign_keys = connection.execute(_FOREIGN_KEYS).fetchall()
    except psycopg.errors.UndefinedObject as error:
        raise DatabaseUnavailable(
            f"The role {reader_role!r} does not exist in {database}.",
            database=database,
            hint="`quorumsql doctor` prints the statements that create it.",
        ) from error
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"Cannot read the catalog of {database}: {str(error).strip()}", database=database
        ) from error
    return _build_catalog(database, schemas, tables, foreign_keys)


def _build_catalog(
    database: str,
    schemas: tuple[str, ...],
    table_rows: list[dict[str, Any]],
    key_rows: list[dict[str, Any]],
) -> Catalog:
    tables = tuple(
        Table(
            schema=row["schema"],
            name=row["name"],
            columns=tuple(Column(**column) for column in row["columns"]),
            primary_key=tuple(row["primary_key"] or ()),
            comment=row["comment"],
            kind=_KINDS[row["kind"]],
            definition=row["definition"],
        )
        for row in table_rows
        if row["columns"]
    )
    visible = {table.qualified: {column.name for column in table.columns} for table in tables}
    keys = tuple(
        ForeignKey(
            row["name"],
            row["table"],
            tuple(row["columns"]),
            row["target"],
            tuple(row["target_columns"]),
        )
        for row in key_rows
        if set(row["columns"]) <= visible.get(row["table"], set())
        and set(row["target_columns"]) <= visible.get(row["target"], set())
    )
    found = dict.fromkeys(table.schema for table in tables)
    search_path = tuple(name for name in schemas if name in found) or tuple(found)
    return Catalog(database, tables, keys, search_path or ("public",))
