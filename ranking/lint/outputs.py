"""What is shown: aggregates, groups, figures and columns; and texts that it is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlglot import exp

from nl2sql.catalog import find_labels
from nl2sql.sql.nodes import list_conjuncts
from nl2sql.types import Finding
from ranking.conditions import list_texts
from ranking.definition_use import DefinitionUse
from ranking.query import Query

_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup)
# "OPN = open, CNF = confirmed".
_CODE = re.compile(r"(?<![\w'])([A-Za-z0-9][A-Za-z0-9_-]{0,11}) = ")
_FEWEST = 2


def aggregate_without_group(query: Query) -> Finding | None:
    """An error if a SELECT without GROUP BY has both: SQLite returns the value of an arbitrary row.

    Columns of one row are allowed, and so is a column that is the same in all rows. The other
    databases refuse such a query themselves.
    """
    for select in query.find_all(exp.Select) if query.dialect == "sqlite" else ():
        aggregates, bare = split_outputs(select)
        if not aggregates or not bare or is_of_row(aggregates) or select.args.get("group"):
            continue
        fixed = _find_fixed(query, select)
        for column in bare:
            use = query.resolve(column)
            if use is None or fixed.isdisjoint({(use.source, ""), (use.source, use.column.name)}):
                message = f"{column.sql()} stands beside an aggregate without GROUP BY."
                return Finding("aggregate_without_group", "error", message)
    return None


def _find_fixed(query: Query, select: exp.Select) -> set[tuple[str, str]]:
    """Source and name of columns that WHERE compares with a value; no name where it names a row."""
    fixed = set()
    where = select.args.get("where")
    for node in list_conjuncts(where.this) if where else ():
        is_value = isinstance(node, exp.EQ) and isinstance(node.expression, exp.Literal)
        if is_value and (use := query.resolve(node.this)) is not None:
            is_row = (use.column.name,) in (use.table.primary_key, find_labels(use.table))
            fixed.add((use.source, "" if is_row else use.column.name))
    return fixed


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


def unlisted_code(query: Query) -> Finding | None:
    """An error for a text compared by = or IN with a column whose comment lists other codes."""
    for use, text in list_texts(query):
        codes = list(dict.fromkeys(_CODE.findall(use.column.comment)))
        if len(codes) >= _FEWEST and text not in codes:
            listed = f"{', '.join(codes[:-1])} and {codes[-1]}"
            written = exp.Literal.string(text).sql()
            message = f"{use.table.name}.{use.column.name} has the codes {listed}, not {written}."
            return Finding("unlisted_code", "error", message)
    return None


def split_outputs(select: exp.Select) -> tuple[list[exp.Expr], list[exp.Column]]:
    """The aggregates of the outputs, and the columns outside them, without those of subqueries."""
    aggregates: list[exp.Expr] = []
    bare: list[exp.Column] = []
    pending = list(select.expressions)
    while pending:
        node = pending.pop(0)
        is_total = isinstance(node, exp.Anonymous) and node.name.lower() == "total"  # SQLite's
        if is_total or isinstance(node, _AGGREGATES):
            aggregates.append(node)
        elif isinstance(node, exp.Column):
            bare.append(node)
        elif not isinstance(node, exp.Query | exp.Window):
            pending += [each for each in node.iter_expressions() if isinstance(each, exp.Expr)]
    return aggregates, bare


def is_of_row(aggregates: Sequence[exp.Expr]) -> bool:
    """Whether SQLite takes the columns beside these from one row, that of a single MIN or MAX.

    Source: sqlite.org/lang_select.html, "bare columns".
    """
    return len(aggregates) == 1 and isinstance(aggregates[0], exp.Min | exp.Max)


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
