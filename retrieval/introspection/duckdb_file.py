"""A DuckDB file as a ``SourceDatabase``: tables and views with their comments, keys and queries.

A view's columns are its present ones, which may differ from those at its creation. In its query
every table is qualified: a name without a schema is searched in the view's schema, then in
``main``. Left out and listed in ``Catalog.skipped``: views that no longer work or that need
external access (a CSV file), and table macros. Left out silently: DuckDB's internal tables, other
macros, sequences and indexes. A change of values is recognised by the file's modification time and
size.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb

from nl2sql.catalog import Catalog, Column, ForeignKey, Skipped, Table, keep_keys
from nl2sql.duckdb_files import (
    ATTACHED,
    CLOSED_CONFIG,
    build_duckdb_opening,
    describe_duckdb_error,
    extract_view_query,
)
from nl2sql.errors import DatabaseUnavailable
from nl2sql.file_advice import advise_duckdb
from nl2sql.sql.column_kinds import TEXTS
from nl2sql.sql.names import enquote, fold_name
from retrieval.introspection.ambiguous_names import remove_ambiguous
from retrieval.introspection.source_database import (
    SourceDatabase,
    TextColumn,
    Unreadable,
    list_columns,
    read_file_mark,
)

_DEFAULT_SCHEMA = "main"
_MEMORY = "512MB"

_TABLES = f"""
SELECT schema_name, table_name, coalesce(comment, '') FROM duckdb_tables()
 WHERE database_name = '{ATTACHED}' AND NOT internal ORDER BY schema_name, table_name
"""

_VIEWS = f"""
SELECT schema_name, view_name, coalesce(comment, ''), coalesce(sql, '') FROM duckdb_views()
 WHERE database_name = '{ATTACHED}' AND NOT internal ORDER BY schema_name, view_name
"""

_COLUMNS = f"""
SELECT schema_name, table_name, column_name, data_type, is_nullable, coalesce(comment, '')
  FROM duckdb_columns()
 WHERE database_name = '{ATTACHED}' AND NOT internal ORDER BY schema_name, table_name, column_index
"""

_KEYS = f"""
SELECT schema_name, table_name, constraint_type, constraint_name, constraint_column_names,
       referenced_table, referenced_column_names
  FROM duckdb_constraints()
 WHERE database_name = '{ATTACHED}' AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
 ORDER BY schema_name, table_name, constraint_index
"""

_MACROS = f"""
SELECT DISTINCT schema_name, function_name FROM duckdb_functions()
 WHERE database_name = '{ATTACHED}' AND NOT internal AND function_type = 'table_macro'
 ORDER BY schema_name, function_name
"""

_SCHEMAS = f"SELECT schema_name FROM duckdb_schemas() WHERE database_name = '{ATTACHED}'"

_Columns = Mapping[tuple[str, str], list[Column]]
# Folded schema and name → schema and name as spelled.
_Spelled = Mapping[tuple[str, str], tuple[str, str]]


class DuckDbSource(SourceDatabase[duckdb.DuckDBPyConnection]):
    """The file at ``path``; of ``schemas``, or all if none is named."""

    errors = duckdb.Error

    def __init__(self, database: str, path: Path, schemas: tuple[str, ...] = ()) -> None:
        super().__init__(database)
        self._path = path
        self._schemas = schemas

    def read_catalog(self) -> Catalog:
        """See ``SourceDatabase``."""
        return read_duckdb_catalog(self._path, database=self._database, schemas=self._schemas)

    def _connect(self) -> duckdb.DuckDBPyConnection:
        return open_duckdb_file(self._path, memory=_MEMORY)

    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        """All text and enumeration columns."""
        return list_columns(tables, "duckdb", TEXTS, read_file_mark(self._path, ".wal"))

    def fetch(self, query: str, timeout_ms: int) -> list[tuple[Any, ...]] | Unreadable:
        """See ``SourceDatabase``."""
        alarm = Timer(timeout_ms / 1000, self._open.interrupt)
        alarm.start()
        try:
            return self._open.execute(query).fetchall()
        except duckdb.InterruptException:
            return Unreadable(f"took longer than {timeout_ms} ms", timed_out=True)
        except duckdb.Error as error:
            return Unreadable(describe_duckdb_error(error))
        finally:
            alarm.cancel()

    def _name(self, table: Table) -> str:
        return f"{ATTACHED}.{super()._name(table)}"

    def _write_text(self, column: str) -> str:
        return f"{column}::VARCHAR"

    def _build_unavailable(self, error: Exception) -> DatabaseUnavailable:
        text = describe_duckdb_error(error)
        return DatabaseUnavailable(
            f"Cannot read values of {self._database}: {text}", database=self._database
        )


def open_duckdb_file(path: Path, *, memory: str = "") -> duckdb.DuckDBPyConnection:
    """An instance without external access that uses the file, attached read-only as ``ATTACHED``.

    ``memory`` is its limit (``512MB``; empty: DuckDB's default). Raises duckdb.Error.
    """
    limit = {"memory_limit": memory} if memory else {}
    connection = duckdb.connect(":memory:", config={**CLOSED_CONFIG, **limit})
    try:
        for statement in build_duckdb_opening(path):
            connection.execute(statement)
        connection.execute(f"USE {ATTACHED}")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def read_duckdb_catalog(path: Path, *, database: str, schemas: tuple[str, ...] = ()) -> Catalog:
    """The catalog of the file at ``path``, opened read-only. Raises DatabaseUnavailable.

    ``schemas`` are those to read, in search-path order; empty means all.
    """
    try:
        with open_duckdb_file(path) as connection:
            tables, keys, broken = _read_schema(connection)
            macros = connection.execute(_MACROS).fetchall()
            present = {name for (name,) in connection.execute(_SCHEMAS).fetchall()}
    except duckdb.Error as error:
        reason = describe_duckdb_error(error)
        raise DatabaseUnavailable(
            f"Cannot read the schema of {path}: {reason.rstrip('.!')}.",
            database=database,
            hint=advise_duckdb(path, reason),
        ) from error
    wanted = set(schemas) or present
    kept, ambiguous = remove_ambiguous(
        (table for table in tables if table.schema in wanted), "duckdb"
    )
    missing = [name for name in schemas if name not in present]
    return Catalog(
        database,
        kept,
        keep_keys(keys, kept),
        search_path=schemas or (_DEFAULT_SCHEMA,),
        dialect="duckdb",
        skipped=(
            *(Skipped("schema", name, "there is no schema of that name") for name in missing),
            *(view for (schema, _), view in broken.items() if schema in wanted),
            *(
                Skipped("macro", f"{schema}.{name}", "a macro is not a table")
                for schema, name in macros
                if schema in wanted
            ),
            *ambiguous,
        ),
    )


def _read_schema(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[list[Table], list[ForeignKey], dict[tuple[str, str], Skipped]]:
    """Tables and keys of all schemas, and the views that do not work. Raises duckdb.Error."""
    columns: dict[tuple[str, str], list[Column]] = defaultdict(list)
    for schema, table, name, kind, nullable, comment in connection.execute(_COLUMNS).fetchall():
        columns[schema, table].append(Column(name, _clean(kind), nullable, _clean(comment)))
    constraints = connection.execute(_KEYS).fetchall()
    primary = {
        (schema, table): tuple(own)
        for schema, table, kind, _, own, *_ in constraints
        if kind == "PRIMARY KEY"
    }
    tables = [
        Table(
            schema,
            name,
            tuple(columns[schema, name]),
            primary.get((schema, name), ()),
            _clean(comment),
        )
        for schema, name, comment in connection.execute(_TABLES).fetchall()
    ]
    views = connection.execute(_VIEWS).fetchall()
    spelled = {
        _fold(schema, name): (schema, name)
        for schema, name in [
            *((table.schema, table.name) for table in tables),
            *((schema, name) for schema, name, *_ in views),
        ]
    }
    broken = {}
    for schema, name, comment, sql in views:
        comments = {column.name: column.comment for column in columns[schema, name]}
        try:
            found = _read_view_columns(connection, schema, name, comments)
            query = _read_definition(connection, schema, sql, found, spelled)
        except duckdb.Error as error:
            reason, message = "it does not work", describe_duckdb_error(error)
            broken[schema, name] = Skipped("view", f"{schema}.{name}", reason, message)
            continue
        tables.append(Table(schema, name, found, (), _clean(comment), "view", query))
    keys = [
        _build_key(schema, table, row, columns, spelled)
        for schema, table, kind, *row in constraints
        if kind == "FOREIGN KEY"
    ]
    return sorted(tables, key=lambda table: (table.schema, table.name)), keys, broken


def _build_key(
    schema: str, table: str, row: list[Any], columns: _Columns, spelled: _Spelled
) -> ForeignKey:
    """The key in the spelling of the tables; DuckDB stores the spelling of the reference."""
    name, own, target, theirs = row
    # There are no foreign keys across schemas.
    found = spelled[_fold(schema, target)]
    return ForeignKey(
        name,
        f"{schema}.{table}",
        _spell(own, columns[schema, table]),
        ".".join(found),
        _spell(theirs, columns[found]),
    )


def _spell(names: Iterable[str], columns: Iterable[Column]) -> tuple[str, ...]:
    spelled = {fold_name(column.name, "duckdb"): column.name for column in columns}
    return tuple(spelled[fold_name(name, "duckdb")] for name in names)


def _read_view_columns(
    connection: duckdb.DuckDBPyConnection, schema: str, name: str, comments: Mapping[str, str]
) -> tuple[Column, ...]:
    """The view's present columns. Raises duckdb.Error."""
    cursor = connection.execute(f"SELECT * FROM {enquote(schema, name)} LIMIT 0")
    return tuple(
        Column(column, _clean(str(kind)), comment=comments.get(column, ""))
        for column, kind, *_ in cursor.description or ()
    )


# -- the query of a view -----------------------------------------------------------------------


def _read_definition(
    connection: duckdb.DuckDBPyConnection,
    schema: str,
    sql: str,
    columns: tuple[Column, ...],
    spelled: _Spelled,
) -> str:
    """The view's query with qualified tables; empty if a table cannot be resolved.

    Raises duckdb.Error.
    """
    query = extract_view_query(sql)
    row = connection.execute("SELECT json_serialize_sql($1)", [query]).fetchone()
    tree = json.loads(row[0]) if row else {"error": True}
    if tree["error"] or not _qualify_tables(tree, schema, spelled, frozenset()):
        return ""
    row = connection.execute(
        "SELECT json_deserialize_sql(CAST($1 AS JSON))", [json.dumps(tree)]
    ).fetchone()
    assert row is not None
    # The columns of the query may have other names than those of the view.
    names = ", ".join(enquote(column.name) for column in columns)
    return f"SELECT * FROM ({row[0]}) AS _view({names})"


def _qualify_tables(node: Any, schema: str, spelled: _Spelled, ctes: frozenset[str]) -> bool:
    """Qualifies every table in place; False if a table is not in the file."""
    if isinstance(node, list):
        return all(_qualify_tables(child, schema, spelled, ctes) for child in node)
    if not isinstance(node, dict):
        return True
    kind = node.get("type")
    if kind == "BASE_TABLE":
        return _qualify_table(node, schema, spelled, ctes)
    qualified = True
    for entry in (node.get("cte_map") or {"map": ()})["map"]:
        qualified &= _qualify_tables(entry["value"], schema, spelled, ctes)
        ctes |= {fold_name(entry["key"], "duckdb")}
    for key, value in node.items():
        within = ctes
        if kind == "RECURSIVE_CTE_NODE" and key == "right":
            within = ctes | {fold_name(node["cte_name"], "duckdb")}
        if key != "cte_map":
            qualified &= _qualify_tables(value, schema, spelled, within)
    return qualified


def _qualify_table(
    node: dict[str, Any], schema: str, spelled: _Spelled, ctes: frozenset[str]
) -> bool:
    path = node["qualified_name"]["path"]
    name = path[-1]
    if len(path) == 1 and fold_name(name, "duckdb") in ctes:
        return True
    if len(path) > 2:
        return False
    for candidate in (path[0],) if len(path) == 2 else (schema, _DEFAULT_SCHEMA):
        found = spelled.get(_fold(candidate, name))
        if found is not None:
            # Other parts of the query refer to the table by the name as it was spelled.
            node["alias"] = node["alias"] or name
            node["schema_name"], node["table_name"] = found
            node["qualified_name"]["path"] = list(found)
            return True
    return False


def _clean(text: str) -> str:
    """The text without null characters, which the index cannot hold.

    >>> _clean("a\\0b")
    'a\ufffdb'
    """
    return text.replace("\0", "\ufffd")


def _fold(schema: str, name: str) -> tuple[str, str]:
    return fold_name(schema, "duckdb"), fold_name(name, "duckdb")
