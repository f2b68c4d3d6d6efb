"""Finds the columns that the SQL of a definition names, and where in its text they stand.

So a text is kept as the user wrote it, with other names for its tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.sql.names import fold_name, quote_name
from retrieval.semantics.semantics_file import find_nearest, suggest
from retrieval.semantics.sql_parts import Misfit


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
        parts, end = [], 0
        for name in self.names:
            column = quote_name(name.column.name, dialect)
            parts += [self.text[end : name.start], f"{names(name.table.qualified)}.{column}"]
            end = name.end
        return "".join((*parts, self.text[end:]))


class ColumnFinder:
    """Finds columns in one catalog. Every method raises Misfit."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def read(self, text: str, tree: exp.Expr, place: tuple[str, ...]) -> SqlPart:
        """The columns of ``tree``; positions in it count from the start of ``text``."""
        names = []
        for column in tree.find_all(exp.Column):
            found_table, found = self.find(column, place)
            parts = [part for part in column.args.values() if isinstance(part, exp.Identifier)]
            start = min(part.meta["start"] for part in parts)
            end = max(part.meta["end"] for part in parts) + 1
            names.append(ColumnName(start, end, found_table, found))
        names.sort(key=lambda name: name.start)
        return SqlPart(text, tuple(names))

    def find(self, column: exp.Column, place: tuple[str, ...]) -> tuple[Table, Column]:
        """The table and the column of ``table.column`` or ``schema.table.column``."""
        if not column.table:
            raise Misfit(f"write {column.name} with its table, as table.{column.name}", place)
        name = self._fold(column.args["table"])
        schema = self._fold(column.args.get("db"))
        table = self._catalog.resolve(name, schema)
        if table is None:
            shown = f"{schema}.{name}" if schema else name
            raise Misfit(f"there is no table {shown!r}{self._suggest_table(name, shown)}", place)
        wanted = self._fold(column.this)
        dialect = self._catalog.dialect
        found = next(
            (known for known in table.columns if fold_name(known.name, dialect) == wanted), None
        )
        if found is None:
            near = suggest(wanted, [known.name for known in table.columns])
            raise Misfit(f"{table.qualified} has no column {wanted!r}{near}", place)
        return table, found

    def _fold(self, identifier: exp.Identifier | None) -> str:
        if identifier is None:
            return ""
        dialect = self._catalog.dialect
        if dialect == "postgres" and not identifier.args.get("quoted"):
            return identifier.name.lower()
        return fold_name(identifier.name, dialect)

    def _suggest_table(self, name: str, shown: str) -> str:
        near = find_nearest(shown, [table.qualified for table in self._catalog.tables])
        if not near:
            # A table whose name alone is near, in whatever schema.
            by_name = {table.name: table.qualified for table in self._catalog.tables}
            near = by_name.get(find_nearest(name, by_name), "")
        return f"; did you mean {near!r}?" if near else ""
