"""A DuckDB file as a ``SourceDatabase``: tables and views with their comments, keys and queries.

A view's columns are its present ones, which may differ from those at its creation. In its query
every table is qualified: a name without a schema is searched in the view's schema, then in
``main``. Left out and listed in ``Catalog.skipped``: views that no longer work or that need
external access (a CSV file), and table macros. Left out silently: DuckDB's internal tables, other
macros, sequences and indexes. A change of values is recognised by the file's modification time and
size.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog, Column, ForeignKey, Skipped, Table
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
from nl2sql.sql.names import enquote
from nl2sql.sql.parsing import parse_one
from nl2sql.sql.scopes import fold_case
from retrieval.introspection.assembly import assemble_catalog, find_reads
from retrieval.introspection.source_database import FileSource, Unreadable

_DEFAULT_SCHEMA = "main"
_MEMORY = "512MB"
# The head of a lambda after its bracket.
_LAMBDA = re.compile(r"(?<=\()lambda [\w\", ]+:(?!:)")

# Tables, and views with their statements.
_TABLES = f"""
SELECT schema_name, table_name, coalesce(comment, ''), NULL FROM duckdb_tables()
 WHERE database_name = '{ATTACHED}' AND NOT internal
 UNION ALL
SELECT schema_name, view_name, coalesce(comment, ''), coalesce(sql, '') FROM duckdb_views()
 WHERE database_name = '{ATTACHED}' AND NOT internal ORDER BY 1, 2
"""

_COLUMNS = f"""
SELECT schema_name, table_name, column_name, data_type, is_nullable, coalesce(comment, ''),
       coalesce(generation_expression, '')
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


class DuckDbSource(FileSource[duckdb.DuckDBPyConnection]):
    """The file at ``path``; of ``schemas``, or all if none is named."""

    errors = duckdb.Error
    dialect, kinds, log = "duckdb", TEXTS, ".wal"

    def __init__(self, database: str, path: Path, schemas: tuple[str, ...] = ()) -> None:
        super().__init__(database, path)
        self._schemas = schemas

    def read_catalog(self) -> Catalog:
        """See ``SourceDatabase``."""
        return read_duckdb_catalog(self._path, database=self._database, schemas=self._schemas)

    def _connect(self) -> duckdb.DuckDBPyConnection:
        return open_duckdb_file(self._path, memory=_MEMORY)

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

    def _describe(self, error: Exception) -> str:
        return describe_duckdb_error(error)


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
    missing = [name for name in schemas if name not in present]
    return assemble_catalog(
        database,
        "duckdb",
        [table for table in tables if table.schema in wanted],
        keys,
        search_path=schemas or (_DEFAULT_SCHEMA,),
        skipped=(
            *(Skipped("schema", name, "there is no schema of that name") for name in missing),
            *(view for (schema, _), view in broken.items() if schema in wanted),
            *(
                Skipped("macro", f"{schema}.{name}", "a macro is not a table")
                for schema, name in macros
                if schema in wanted
            ),
        ),
    )


def _read_schema(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[list[Table], list[ForeignKey], dict[tuple[str, str], Skipped]]:
    """Tables and keys of all schemas, and the views that do not work. Raises duckdb.Error."""
    columns: dict[tuple[str, str], list[Column]] = defaultdict(list)
    for (schema, table), rows in groupby(
        connection.execute(_COLUMNS).fetchall(), key=itemgetter(0, 1)
    ):
        described = list(rows)
        table_columns = [name for _, _, name, *_ in described]
        columns[schema, table] = [
            Column(
                name, _clean(kind), nullable, _clean(comment), find_reads(computed, table_columns)
            )
            for _, _, name, kind, nullable, comment, computed in described
        ]
    constraints = connection.execute(_KEYS).fetchall()
    primary = {
        (schema, table): tuple(own)
        for schema, table, kind, _, own, *_ in constraints
        if kind == "PRIMARY KEY"
    }
    listed = connection.execute(_TABLES).fetchall()
    named = (Table(schema, name, ()) for schema, name, *_ in listed)
    known = Catalog("", tuple(named), dialect="duckdb")
    tables: list[Table] = []
    broken = {}
    for schema, name, comment, sql in listed:
        own = columns[schema, name]
        if sql is None:
            key = primary.get((schema, name), ())
            tables.append(Table(schema, name, tuple(own), key, _clean(comment)))
            continue
        comments = {column.name: column.comment for column in own}
        try:
            found = _read_view_columns(connection, schema, name, comments)
        except duckdb.Error as error:
            reason, message = "it does not work", describe_duckdb_error(error)
            broken[schema, name] = Skipped("view", f"{schema}.{name}", reason, message)
            continue
        query = _qualify_tables(extract_view_query(sql), schema, known)
        if query:
            # The columns of the query may have other names than those of the view.
            names = ", ".join(enquote(column.name) for column in found)
            query = f"SELECT * FROM ({query}) AS _view({names})"
        tables.append(Table(schema, name, found, (), _clean(comment), "view", query))
    # There are no foreign keys across schemas.
    keys = [
        ForeignKey(name, f"{schema}.{table}", tuple(own), f"{schema}.{target}", tuple(theirs))
        for schema, table, kind, name, own, target, theirs in constraints
        if kind == "FOREIGN KEY"
    ]
    return tables, keys, broken


def _read_view_columns(
    connection: duckdb.DuckDBPyConnection, schema: str, name: str, comments: Mapping[str, str]
) -> tuple[Column, ...]:
    """The view's present columns. Raises duckdb.Error."""
    cursor = connection.execute(f"SELECT * FROM {enquote(schema, name)} LIMIT 0")
    return tuple(
        Column(column, _clean(str(kind)), comment=comments.get(column, ""))
        for column, kind, *_ in cursor.description or ()
    )


def _qualify_tables(query: str, schema: str, known: Catalog) -> str:
    """The query of a view in ``schema`` with qualified tables; empty if one is not in the file."""
    try:
        # sqlglot does not read a lambda in brackets, as DuckDB writes it: only its result is read.
        tree = parse_one(_LAMBDA.sub(lambda found: " " * len(found[0]), query), "duckdb")
    except (SqlglotError, RecursionError):
        return ""
    spans = []
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier) or _is_cte(node):
            continue
        owners = (node.db,) if node.db else (schema, _DEFAULT_SCHEMA)
        found = next(filter(None, (known.resolve(node.name, owner) for owner in owners)), None)
        start, end = (node.args.get("db") or node.this).meta.get("start"), node.this.meta.get("end")
        if found is None or node.catalog or start is None or end is None:
            return ""
        spans.append((start, end + 1, enquote(found.schema, found.name)))
    for start, end, name in sorted(spans, reverse=True):
        query = query[:start] + name + query[end:]
    return query


def _is_cte(table: exp.Table) -> bool:
    """Whether the name is that of a CTE: an earlier one of its clause, or its own in its step."""
    name = fold_case(table.this)
    within: set[int] = set()
    here: exp.Expr | None = table if not table.db else None
    while here is not None:
        if isinstance(clause := here.args.get("with_"), exp.With):
            for cte in clause.expressions:
                is_own = id(cte) in within
                in_step = clause.recursive and id(cte.this.args.get("expression")) in within
                if fold_case(cte.args["alias"].this) == name and (in_step or not is_own):
                    return True
                if is_own:
                    break
        within.add(id(here))
        here = here.parent
    return False


def _clean(text: str) -> str:
    """The text without null characters, which the index cannot hold.

    >>> _clean("a\\0b")
    'a\ufffdb'
    """
    return text.replace("\0", "\ufffd")
