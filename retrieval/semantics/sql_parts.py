"""Reads the SQL of definitions, one expression or one condition each, and finds its columns.

It is known where in its text a column stands, so that the text is kept as the user wrote it, with
other names for its tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.sql.nodes import read_identifier
from nl2sql.sql.parsing import describe_parse_error, parse_one
from nl2sql.yaml_file import find_nearest, suggest

_BEFORE_EXPRESSION = "SELECT "
_BEFORE_CONDITION = "SELECT 1 WHERE "


class UnusableDefinition(Exception):
    """A definition cannot be used; ``place`` are the keys inside it that are wrong."""

    def __init__(self, text: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.place = place


def join_lines(text: str) -> str:
    """The text on one line, as prompts show it.

    >>> join_lines("sum(a.b)\\n  + 1\\n")
    'sum(a.b) + 1'
    """
    return " ".join(line.strip() for line in text.strip().splitlines())


def read_expression(text: str, kind: str, dialect: str) -> exp.Expr:
    """The tree of a measure's or dimension's expression. Raises UnusableDefinition."""
    place = ("expression",)
    select = _read(text, _BEFORE_EXPRESSION, dialect, place)
    if set(_list_clauses(select)) != {"expressions"} or len(select.expressions) != 1:
        raise UnusableDefinition("write one expression, without FROM and other clauses", place)
    tree: exp.Expr = select.expressions[0]
    if isinstance(tree, exp.Alias | exp.Star) or (
        isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star)
    ):
        raise UnusableDefinition("write one expression, without AS and without a star", place)
    aggregates = tree.find(exp.AggFunc) is not None
    if kind == "measure" and not aggregates:
        raise UnusableDefinition("a measure needs an aggregate such as sum(…) or count(…)", place)
    if kind == "dimension" and aggregates:
        raise UnusableDefinition("a dimension has no aggregate; make it a measure", place)
    return tree


def read_condition(text: str, dialect: str, place: tuple[str, ...]) -> exp.Expr:
    """The tree of a condition. Raises UnusableDefinition."""
    select = _read(text, _BEFORE_CONDITION, dialect, place)
    if set(_list_clauses(select)) != {"expressions", "where"}:
        raise UnusableDefinition("write one condition, without further clauses", place)
    tree: exp.Expr = select.args["where"].this
    if tree.find(exp.AggFunc, exp.Window) is not None:
        raise UnusableDefinition("a condition is about single rows and has no aggregate", place)
    return tree


def has_aggregate(text: str, dialect: str) -> bool:
    """Whether the expression or condition has an aggregate. Raises UnusableDefinition."""
    return _read(text, _BEFORE_EXPRESSION, dialect, ()).find(exp.AggFunc) is not None


def _list_clauses(select: exp.Select) -> list[str]:
    return [name for name, value in select.args.items() if value]


def _read(text: str, before: str, dialect: str, place: tuple[str, ...]) -> exp.Select:
    try:
        tree = parse_one(f"{before}{text}", dialect)
    except (SqlglotError, RecursionError) as error:
        raise UnusableDefinition(
            f"it is not valid SQL: {describe_parse_error(error)}", place
        ) from error
    if not isinstance(tree, exp.Select):
        raise UnusableDefinition(
            "write one expression or condition, not a query or a statement", place
        )
    if tree.find(exp.Subquery, exp.Window) is not None or len(list(tree.find_all(exp.Select))) > 1:
        raise UnusableDefinition("it may have no subquery and no window function", place)
    if any(node.comments for node in tree.walk()):
        raise UnusableDefinition("put comments beside it, in YAML", place)
    for identifier in tree.find_all(exp.Identifier):
        for key in ("start", "end"):
            if key in identifier.meta:
                identifier.meta[key] -= len(before)
    return tree


def rewrite_columns(text: str, dialect: str, rewrite: Callable[[exp.Column], str]) -> str:
    """An expression in which ``rewrite`` writes each column anew. Raises UnusableDefinition.

    >>> rewrite_columns("sum(a + b.c)", "postgres", lambda column: column.sql().upper())
    'sum(A + B.C)'
    """
    tree = _read(text, _BEFORE_EXPRESSION, dialect, ())
    spans = [(*_find_span(column), column) for column in tree.find_all(exp.Column)]
    for start, end, column in sorted(spans, key=lambda span: span[0], reverse=True):
        text = text[:start] + rewrite(column) + text[end:]
    return text


def _find_span(column: exp.Column) -> tuple[int, int]:
    """Where the column's name begins and ends in the text that was read."""
    parts = [part for part in column.args.values() if isinstance(part, exp.Identifier)]
    return min(part.meta["start"] for part in parts), max(part.meta["end"] for part in parts) + 1


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column in a SQL text: where its name begins and ends, and what it refers to."""

    start: int
    end: int
    table: Table
    column: Column


@dataclass(frozen=True, slots=True)
class SqlPart:
    """A SQL text and the columns in it, in the order of the text."""

    text: str = ""
    names: tuple[ColumnName, ...] = ()

    def render(self, names: Callable[[str], str], dialect: str) -> str:
        """The text on one line, with tables under the given names."""
        text = self.text
        for name in reversed(self.names):
            column = f"{names(name.table.qualified)}.{quote_name(name.column.name, dialect)}"
            text = text[: name.start] + column + text[name.end :]
        return text


class DefinitionColumns:
    """Finds columns in one catalog. Every method raises UnusableDefinition."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def read(self, text: str, tree: exp.Expr, place: tuple[str, ...]) -> SqlPart:
        """The columns of ``tree``; positions in it count from the start of ``text``."""
        names = []
        for column in tree.find_all(exp.Column):
            found_table, found = self.find(column, place)
            names.append(ColumnName(*_find_span(column), found_table, found))
        names.sort(key=lambda name: name.start)
        return SqlPart(text, tuple(names))

    def find(self, column: exp.Column, place: tuple[str, ...]) -> tuple[Table, Column]:
        """The table and the column of ``table.column`` or ``schema.table.column``."""
        if not column.table:
            raise UnusableDefinition(
                f"write {column.name} with its table, as table.{column.name}", place
            )
        dialect = self._catalog.dialect
        table = self._find_table(column.args["table"], column.args.get("db"), place)
        wanted = read_identifier(column.this, dialect)
        found = next(
            (known for known in table.columns if fold_name(known.name, dialect) == wanted), None
        )
        if found is None:
            near = suggest(wanted, [known.name for known in table.columns])
            raise UnusableDefinition(f"{table.qualified} has no column {wanted!r}{near}", place)
        return table, found

    def find_table(self, name: str) -> Table:
        """The table of a name as SQL writes it."""
        dialect = self._catalog.dialect
        try:
            query = parse_one(f"SELECT 1 FROM {name}", dialect)
        except (SqlglotError, RecursionError) as error:
            raise UnusableDefinition(f"{name} is not the name of a table") from error
        table = query.find(exp.Table)
        if table is None or query != exp.select("1").from_(table):
            raise UnusableDefinition(f"{name} is not the name of a table")
        return self._find_table(table.this, table.args.get("db"))

    def _find_table(self, named: object, qualified: object, place: tuple[str, ...] = ()) -> Table:
        name = read_identifier(named, self._catalog.dialect)
        schema = read_identifier(qualified, self._catalog.dialect)
        table = self._catalog.resolve(name, schema)
        if table is None:
            shown = f"{schema}.{name}" if schema else name
            raise UnusableDefinition(
                f"there is no table {shown!r}{self._suggest_table(name, shown)}", place
            )
        return table

    def _suggest_table(self, name: str, shown: str) -> str:
        near = find_nearest(shown, [table.qualified for table in self._catalog.tables])
        if not near:
            # A table whose name alone is near, in whatever schema.
            by_name = {table.name: table.qualified for table in self._catalog.tables}
            near = by_name.get(find_nearest(name, by_name), "")
        return f"; did you mean {near!r}?" if near else ""
