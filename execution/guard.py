"""The guard: nothing reaches a database but what ``guard`` returns.

Assumes that the model is hostile. Promises: exactly one query; every node type, function, cast,
table and column is on an allowlist, the tables and columns being those in the index (which holds
only what the reading role may SELECT); the SQL that runs is rendered from the checked tree, with
comments gone and every table qualified, and was checked a second time by the dialect's own means:
PostgreSQL's grammar, or for SQLite the allowlist of ``sqlite_grammar.py``. What it cannot read or
explain it refuses.

Does not cover yet: row policies (nothing is injected), and cost: a query may be slow until the
statement timeout ends it.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import DialectType
from sqlglot.errors import OptimizeError, SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from execution.allowlists import load_allowlist
from execution.postgres_grammar import check_grammar
from execution.sqlite_dialect import GuardedSqlite
from execution.sqlite_grammar import check_functions
from execution.sqlite_names import record_spelling, restore_spelling, settle_names
from nl2sql.catalog import Catalog
from nl2sql.names import fold_name
from nl2sql.protocols import CatalogSource
from nl2sql.types import GuardedQuery, Principal, Violation

_LONGEST_SQL = 20_000

# Under what sqlglot reads and writes a catalog's dialect.
_READERS: dict[str, DialectType] = {"postgres": "postgres", "sqlite": GuardedSqlite}

_ROOTS = (exp.Select, exp.SetOperation, exp.Subquery)

# sqlglot's node types a query may hold, besides functions, which PostgreSQL's grammar names.
_NODES: tuple[type[exp.Expr], ...] = (
    exp.Alias,
    exp.All,
    exp.Any,
    exp.Array,
    exp.AtTimeZone,
    exp.Between,
    exp.Binary,
    exp.Boolean,
    exp.Bracket,
    exp.CTE,
    exp.Case,
    exp.Collate,
    exp.Column,
    exp.Connector,
    exp.Cube,
    exp.CurrentDate,
    exp.DataType,
    exp.DataTypeParam,
    exp.Distinct,
    exp.Except,
    exp.Exists,
    exp.Fetch,
    exp.Filter,
    exp.From,
    exp.Group,
    exp.GroupingSets,
    exp.Having,
    exp.Identifier,
    exp.In,
    exp.Intersect,
    exp.Interval,
    exp.IntervalSpan,
    exp.Join,
    exp.Lateral,
    exp.Limit,
    exp.LimitOptions,
    exp.Literal,
    exp.Null,
    exp.Offset,
    exp.Order,
    exp.Ordered,
    exp.Paren,
    exp.Rollup,
    exp.Select,
    exp.Star,
    exp.Subquery,
    exp.Table,
    exp.TableAlias,
    exp.Tuple,
    exp.Unary,
    exp.Union,
    exp.Unnest,
    exp.Values,
    exp.Var,
    exp.Where,
    exp.Window,
    exp.WindowSpec,
    exp.With,
    exp.WithinGroup,
)


@dataclass(frozen=True, slots=True)
class _Known:
    """A catalog in the form in which sqlglot resolves names."""

    catalog: Catalog
    schema: MappingSchema


class SqlGuard:
    """Guards queries against the indexed catalogs."""

    def __init__(self, catalogs: CatalogSource) -> None:
        self._catalogs = catalogs
        self._known: dict[str, _Known] = {}

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        """``sql`` made safe to run, or why not. Raises IndexUnavailable."""
        catalog = await self._catalogs.catalog(database)
        known = self._known.get(database)
        if known is None or known.catalog is not catalog:
            known = _Known(catalog, _build_schema(catalog))
            self._known[database] = known
        return guard_query(sql, known.catalog, known.schema)


def guard_query(sql: str, catalog: Catalog, schema: MappingSchema) -> GuardedQuery | Violation:
    """The checks themselves, pure; ``schema`` is the catalog as ``SqlGuard`` prepares it."""
    tree = _parse_query(sql, catalog.dialect)
    if isinstance(tree, Violation):
        return tree
    try:
        return _check_query(tree, catalog, schema)
    except (SqlglotError, RecursionError) as error:
        return Violation("unresolved", "", _first_line(error))


def _parse_query(sql: str, dialect: str) -> exp.Expr | Violation:
    if len(sql) > _LONGEST_SQL:
        return Violation("too_long", "", f"The query is longer than {_LONGEST_SQL} characters.")
    reader = _READERS[dialect]
    try:
        statements = [
            tree
            for tree in sqlglot.parse(sql, dialect=reader)
            # A Semicolon only carries the comment behind the last one.
            if tree is not None and not isinstance(tree, exp.Semicolon)
        ]
    except (SqlglotError, RecursionError) as error:
        return Violation("unparsable", "", f"It is not valid SQL: {_first_line(error)}")
    if len(statements) != 1:
        return Violation("multiple_statements", "", "Exactly one statement is allowed.")
    tree = statements[0]
    if not isinstance(tree, _ROOTS):
        kind = type(tree).__name__
        return Violation("not_a_query", kind, f"Only a query may run, this is {kind}.")
    if dialect == "sqlite":
        record_spelling(tree, sql)
    normalize_identifiers(tree, dialect=reader)
    for node in tree.walk():
        if not isinstance(node, (*_NODES, exp.Func)) or node.args.get("locks"):
            return Violation(
                "node_not_allowed",
                node.sql(reader)[:80],
                f"{type(node).__name__} is not allowed in a query.",
            )
    return tree


def _check_query(
    tree: exp.Expr, catalog: Catalog, schema: MappingSchema
) -> GuardedQuery | Violation:
    tables = _qualify_tables(tree, catalog)
    if isinstance(tables, Violation):
        return tables
    if catalog.dialect == "sqlite" and (violation := settle_names(tree, catalog)):
        return violation
    try:
        # On a copy: the columns are only looked up, what runs keeps its own names. Stars are
        # expanded there, or a column could be fetched through the star of a subquery.
        resolved = qualify(
            tree.copy(),
            dialect=_READERS[catalog.dialect],
            schema=schema,
            quote_identifiers=False,
            identify=False,
        )
    except OptimizeError as error:
        return Violation("unknown_column", "", _first_line(error))
    if unresolved := _find_unresolved(resolved):
        return Violation("unknown_column", unresolved, f"There is no column {unresolved}.")
    if catalog.dialect == "sqlite":
        restore_spelling(tree)
    sql = tree.sql(_READERS[catalog.dialect], comments=False)
    if violation := _check_again(tree, sql, tables, catalog.dialect):
        return violation
    return GuardedQuery(
        database=catalog.database,
        sql=sql,
        tables=tuple(sorted(tables)),
        columns=_list_columns(resolved, tables, catalog),
        dialect=catalog.dialect,
    )


def _check_again(
    tree: exp.Expr, sql: str, tables: frozenset[str], dialect: str
) -> Violation | None:
    """The second opinion: on ``sql`` where the server's grammar is at hand, else on ``tree``."""
    allowlist = load_allowlist(dialect)
    if dialect == "postgres":
        return check_grammar(sql, tables, allowlist)
    if "\0" in sql:
        # SQLite would stop reading there.
        return Violation("unparsable", "", "It holds a null character.")
    return check_functions(tree, allowlist)


def _list_columns(resolved: exp.Expr, tables: frozenset[str], catalog: Catalog) -> tuple[str, ...]:
    """The names of the columns that are read, as the catalog spells them."""
    spelled = {
        fold_name(column.name, catalog.dialect): column.name
        for table in catalog.tables
        if table.qualified in tables
        for column in table.columns
    }
    names = {column.name for column in resolved.find_all(exp.Column)}
    return tuple(sorted({spelled.get(name, name) for name in names}))


def _qualify_tables(tree: exp.Expr, catalog: Catalog) -> frozenset[str] | Violation:
    """Puts its schema on every physical table, in place; the set of their qualified names.

    Scopes tell tables from the CTEs that shadow them. A table that no scope explains is refused.
    """
    explained: set[int] = set()
    names: set[str] = set()
    for scope in traverse_scope(tree):
        for node, source in scope.selected_sources.values():
            if isinstance(source, exp.Table):
                table = _find_table(source, catalog)
                if table is None:
                    fragment = source.sql(_READERS[catalog.dialect])
                    return Violation(
                        "unknown_table", fragment, f"There is no table {fragment} here."
                    )
                if not source.alias:
                    # Under its schema the bare name would still resolve; an alias keeps the
                    # spelling that the rest of the query uses.
                    source.set("alias", exp.TableAlias(this=source.this.copy()))
                source.set("this", exp.to_identifier(table[1], quoted=True))
                source.set("db", exp.to_identifier(table[0], quoted=True))
                names.add(f"{table[0]}.{table[1]}")
                explained.add(id(source))
            elif isinstance(node, exp.Table):
                explained.add(id(node))
    for column in tree.find_all(exp.Column):
        # schema.table.column: the table has an alias now, which hides it under its schema.
        column.set("db", None)
        column.set("catalog", None)
    for node in tree.find_all(exp.Table):
        if id(node) not in explained:
            fragment = node.sql(_READERS[catalog.dialect])
            return Violation("unexplained_table", fragment, f"{fragment} cannot be traced.")
    return frozenset(names)


def _find_unresolved(resolved: exp.Expr) -> str:
    """A column that belongs to no table: unknown, or the name of a table, meaning its whole row.

    What ORDER BY may name besides are the query's own outputs.
    """
    for scope in traverse_scope(resolved):
        outputs = {each.alias_or_name for each in scope.expression.args.get("expressions") or ()}
        for column in scope.columns:
            if column.table:
                continue
            order = column.find_ancestor(exp.Order)
            in_own_order = order is not None and order.parent is scope.expression
            is_output = column.name in outputs or isinstance(scope.expression, exp.SetOperation)
            if not (in_own_order and is_output):
                return column.name
    for lateral in resolved.find_all(exp.Lateral):
        # sqlglot takes a name it does not know inside a LATERAL for one of the LATERAL's own.
        for column in lateral.this.find_all(exp.Column):
            if column.table == lateral.alias:
                return str(column.name)
    return ""


def _find_table(source: exp.Table, catalog: Catalog) -> tuple[str, str] | None:
    if source.args.get("catalog") or not isinstance(source.this, exp.Identifier):
        return None
    schema = source.args.get("db")
    table = catalog.resolve(_fold(source.this), _fold(schema) if schema else "")
    return (table.schema, table.name) if table else None


def _fold(identifier: exp.Identifier) -> str:
    """The name as PostgreSQL reads it: lower case unless quoted."""
    return identifier.name if identifier.args.get("quoted") else identifier.name.lower()


def _build_schema(catalog: Catalog) -> MappingSchema:
    nested: dict[str, dict[str, object]] = {}
    for table in catalog.tables:
        columns = {_quote(column.name): "unknown" for column in table.columns}
        nested.setdefault(_quote(table.schema), {})[_quote(table.name)] = columns
    return MappingSchema(dict(nested), dialect=_READERS[catalog.dialect])


def _quote(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql()


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0][:300]
