"""What the rules know about the database: the names of tables, and the kinds of their columns.

A kind is coarse: ``integer``, ``number``, ``float``, ``text``, ``boolean``, ``date``,
``timestamp``, ``interval``, ``other``, or empty if it is unknown. Rules that need a kind do nothing
without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from nl2sql.catalog import Column, Table
from nl2sql.sql.column_kinds import Kind, find_kind, kind_of
from nl2sql.sql.names import quote_name
from nl2sql.sql.scopes import find_outer, fold_case, list_sources

# The kinds that the rules distinguish; any other kind of column is ``other``.
_KINDS = frozenset(
    {"interval", "timestamp", "date", "boolean", "integer", "number", "float", "text", ""}
)
TEMPORAL = frozenset({"date", "timestamp"})
NUMERIC = frozenset({"integer", "number", "float"})
_CALLS = {
    name: kind
    for kind, names in {
        "timestamp": "NOW DATE_TRUNC TO_TIMESTAMP MAKE_TIMESTAMP",
        "date": "TO_DATE MAKE_DATE TODAY LAST_DAY",
        "integer": "COUNT LENGTH",
        "text": "TO_CHAR STRFTIME UPPER LOWER CONCAT SUBSTR SUBSTRING TRIM REPLACE STRING_AGG LEFT "
        "RIGHT",
    }.items()
    for name in names.split()
}
# Functions whose value has the kind of their first argument.
_SAME = frozenset({"MIN", "MAX", "COALESCE", "NULLIF", "GREATEST", "LEAST", "ABS"})


@dataclass(frozen=True)
class Facts:
    """The target's dialect, and the tables that the query may be about."""

    target: str
    tables: Sequence[Table] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """All names of tables, schemas and columns, in lower case."""
        columns = {column.name.lower() for table in self.tables for column in table.columns}
        tables = {name.lower() for table in self.tables for name in (table.name, table.schema)}
        return frozenset(columns | tables)

    @cached_property
    def quoted_names(self) -> list[str]:
        """The names of tables and columns that need quotes in any spelling, longer ones first."""
        names = {column.name for table in self.tables for column in table.columns}
        names |= {table.name for table in self.tables}
        found = (name for name in names if quote_name(it := name.lower(), self.target) != it)
        return sorted(found, key=lambda name: (-len(name), name))

    def find_column(self, column: exp.Column) -> Column | None:
        """The real column that is meant, in the nearest enclosing query that has one."""
        select = column.parent_select
        while select is not None:
            for source in list_sources(select, fold_case):
                if source.table is None or source.identifier is None:
                    continue
                if column.table and fold_case(source.identifier) != column.table.lower():
                    continue
                found = self._find_in(source.table, column.name)
                if found is not None:
                    return found
            select = find_outer(select)
        return None

    def _find_in(self, source: exp.Table, name: str) -> Column | None:
        for table in self.tables:
            if table.name.lower() == source.name.lower():
                for column in table.columns:
                    if column.name.lower() == name.lower():
                        return column
        return None

    def kind_of(self, node: exp.Expr | None) -> str:
        """The kind of an expression's value; empty if it is unknown."""
        if isinstance(node, exp.Column):
            column = self.find_column(node)
            return _simplify(find_kind(column.type, self.target)) if column else ""
        if isinstance(node, exp.Cast):
            return _simplify(kind_of(node.to))
        if isinstance(node, exp.Literal):
            return "text" if node.is_string else "integer" if node.is_int else "number"
        if isinstance(node, exp.Paren | exp.Neg | exp.Filter | exp.Window):
            return self.kind_of(node.this)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
            # A query that was cut off may select nothing.
            outputs = node.this.expressions
            return self.kind_of(outputs[0].unalias()) if outputs else ""
        if isinstance(node, exp.CurrentDate):
            return "date"
        if isinstance(node, exp.CurrentTimestamp | exp.Localtimestamp):
            return "timestamp"
        if isinstance(node, exp.DPipe):
            return "text"
        if isinstance(node, exp.Extract):
            return "number"
        if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
            return "timestamp" if self.kind_of(node.this) in TEMPORAL else ""
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
            kinds = {self.kind_of(node.left), self.kind_of(node.right)}
            if kinds <= {"integer", "number"}:
                return "number" if len(kinds) > 1 else kinds.pop()
            return kinds.pop() if len(kinds) == 1 and not kinds & TEMPORAL else ""
        if isinstance(node, exp.Anonymous):
            name = node.name.upper()
            if name in _SAME and node.expressions:
                return self.kind_of(node.expressions[0])
            if name in ("AVG", "SUM") and node.expressions:
                kind = self.kind_of(node.expressions[0])
                return "number" if kind == "integer" else kind
            return _CALLS.get(name, "")
        return ""


def _simplify(kind: Kind) -> str:
    if kind == "enum":
        return "text"
    return kind if kind in _KINDS else "other"
