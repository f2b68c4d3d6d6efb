"""What is shown: aggregates, groups, figures and columns."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from nl2sql.catalog import find_labels
from nl2sql.sql.nodes import list_conjuncts
from nl2sql.types import Finding
from ranking.conditions import list_texts
from ranking.definition_use import DefinitionUse
from ranking.query import Query

_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup)


def aggregate_without_group(query: Query) -> Finding | None:
    """An error if a SELECT without GROUP BY has both: SQLite returns the value of an arbitrary row.

    A single MIN or MAX is allowed, where the other columns are those of that row
    (sqlite.org/lang_select.html, "bare columns"), and so is a column that is the same in all rows.
    The other databases refuse such a query themselves.

    >>> from ranking.query import read_query
    >>> aggregate_without_group(read_query("SELECT name, count(*) FROM a", "sqlite")).rule
    'aggregate_without_group'
    >>> aggregate_without_group(read_query("SELECT name, max(age) FROM a", "sqlite"))
    """
    for select in query.find_all(exp.Select) if query.dialect == "sqlite" else ():
        aggregates, bare = split_outputs(select)
        is_row = len(aggregates) == 1 and isinstance(aggregates[0], exp.Min | exp.Max)
        varying = [column for column in bare if not _is_fixed(query, select, column)]
        if aggregates and varying and not (is_row or select.args.get("group")):
            message = f"{varying[0].sql()} stands beside an aggregate without GROUP BY."
            return Finding("aggregate_without_group", "error", message)
    return None


def _is_fixed(query: Query, select: exp.Select, column: exp.Column) -> bool:
    """True if WHERE compares it, or what names its row, with a value."""
    where, use = select.args.get("where"), query.resolve(column)
    for node in list_conjuncts(where.this) if where and use else ():
        if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Literal):
            fixed = query.resolve(node.this)
            if fixed and use and fixed.source == use.source:
                naming = (use.table.primary_key, find_labels(use.table), (use.column.name,))
                if (fixed.column.name,) in naming:
                    return True
    return False


def counted_name(query: Query) -> Finding | None:
    """An error if it counts the rows of one table with one name: there is one, or none.

    "How many comedies are there?" counts films, not the genres called comedy. The names of people
    stand also in tables of what they do, and a name in a longer key names no row.
    """
    select, outputs = query.outermost(), query.outputs()
    counts = [output for output in outputs if isinstance(output.unalias(), exp.Count)]
    if select is None or select.args.get("group") or not counts or len(outputs) > 1:
        return None
    sources = list(query.sources(select).values())
    for use, _ in list_texts(query):
        table, name = use.table, use.column.name
        is_part = name in table.primary_key and len(table.primary_key) > 1
        if sources == [table] and find_labels(table) == (name,) and not is_part:
            told = f"It counts the rows of {table.name} with one name: one at most."
            return Finding("counted_name", "error", told)
    return None


def split_outputs(select: exp.Select) -> tuple[list[exp.Expr], list[exp.Column]]:
    """The aggregates of the outputs, and the columns outside them, without those of subqueries."""
    aggregates: list[exp.Expr] = []
    bare: list[exp.Column] = []
    pending = list(select.expressions)
    while pending:
        node = pending.pop(0)
        if isinstance(node, _AGGREGATES):
            aggregates.append(node)
        elif isinstance(node, exp.Column):
            bare.append(node)
        elif not isinstance(node, exp.Query | exp.Window):
            pending += [each for each in node.iter_expressions() if isinstance(each, exp.Expr)]
    return aggregates, bare


def measure_without_filter(uses: Iterable[DefinitionUse]) -> Finding | None:
    """A warning if a named measure's expression is there, and a column of its filter nowhere.

    A candidate that mentions the column at all may limit the rows in another way.
    """
    for use in uses:
        definition = use.definition
        if definition.kind == "measure" and use.computes and use.missing:
            missing = " AND ".join(use.missing)
            message = f"{definition.name} is defined with {missing}, which is missing."
            return Finding("measure_without_filter", "warning", message)
    return None
