"""The tables and columns that a gold query reads: the reference for the recall of retrieval.

sqlglot resolves names scope by scope, so a CTE with a table's name is not a table. All columns
named in the query count, also those that a derived table only passes on; COUNT(*) and the star of
an EXISTS read none. As in SQLite, a word in double quotes that is not a column is a string.

Not covered: NATURAL JOIN, whole rows as values, table functions, and non-ASCII names that SQLite
stores in upper case.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.parsing import parse_one


def find_gold_schema(sql: str, catalog: Catalog) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The physical tables (``schema.table``) and columns (``schema.table.column``), each sorted.

    Names have the catalog's spelling. Both are empty if the query cannot be parsed, only the
    columns if sqlglot cannot resolve them.

    >>> from nl2sql.catalog import Column
    >>> stadium = Table("main", "Stadium", (Column("Name", "text"), Column("City", "text")))
    >>> catalog = Catalog("concerts", (stadium,), search_path=("main",), dialect="sqlite")
    >>> find_gold_schema('SELECT count(*) FROM stadium WHERE city = "Ayr"', catalog)
    (('main.Stadium',), ('main.Stadium.City',))
    """
    try:
        tree = parse_one(sql, catalog.dialect)
        tree = normalize_identifiers(tree, dialect=catalog.dialect)
        tables = _resolve_tables(tree, catalog)
    except (SqlglotError, RecursionError):
        return (), ()
    try:
        columns = _find_columns(tree, tables, catalog.dialect) if tables else set()
    except (SqlglotError, RecursionError):
        # sqlglot refuses names that it does not know, such as SQLite's rowid.
        columns = set()
    return tuple(sorted(table.qualified for table in tables)), tuple(sorted(columns))


def _resolve_tables(tree: exp.Expr, catalog: Catalog) -> frozenset[Table]:
    """The physical tables; their nodes are renamed in place as in the catalog."""
    tables = set()
    for scope in traverse_scope(tree):
        for _, source in scope.selected_sources.values():
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                table = catalog.resolve(source.name, source.db)
                if table is not None:
                    source.set("this", exp.to_identifier(table.name, quoted=True))
                    source.set("db", exp.to_identifier(table.schema, quoted=True))
                    tables.add(table)
    return frozenset(tables)


def _find_columns(tree: exp.Expr, tables: Iterable[Table], dialect: str) -> set[str]:
    """The columns that are read. Modifies ``tree``."""
    for column in tree.find_all(exp.Column):
        # sqlglot does not resolve schema.table.column, only a table's name or alias.
        column.set("db", None)
    for exists in tree.find_all(exp.Exists):
        if isinstance(exists.this, exp.Select) and exists.this.is_star:
            exists.this.set("expressions", [exp.Literal.number(1)])
    resolved = qualify(
        tree,
        dialect=dialect,
        schema=_build_schema(tables, dialect),
        quote_identifiers=False,
        identify=False,
        # Names that are not columns, such as quoted strings and outputs, get no table.
        validate_qualify_columns=False,
    )
    known = {
        tuple(_fold(name, dialect) for name in (table.schema, table.name, column.name)): (
            f"{table.qualified}.{column.name}"
        )
        for table in tables
        for column in table.columns
    }
    found = set()
    for scope in traverse_scope(resolved):
        for column in scope.columns:
            _, source = scope.selected_sources.get(column.table, (None, None))
            if isinstance(source, exp.Table):
                name = known.get((source.db, source.name, column.name))
                if name is not None:
                    found.add(name)
    return found


def _build_schema(tables: Iterable[Table], dialect: str) -> MappingSchema:
    """A schema of these tables only: one of thousands would be slow to build for each query."""
    nested: dict[str, dict[str, object]] = {}
    for table in tables:
        columns = {f'"{column.name}"': "unknown" for column in table.columns}
        nested.setdefault(f'"{table.schema}"', {})[f'"{table.name}"'] = columns
    return MappingSchema(dict(nested), dialect=dialect)


def _fold(name: str, dialect: str) -> str:
    """The name as sqlglot normalises a quoted name."""
    return name.lower() if dialect in ("sqlite", "duckdb") else name
