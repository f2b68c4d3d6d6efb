"""How a query shows its result: columns of tables, periods, ranking and rounded figures, units.

Only what the schema or the query proves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.types import Display, ResultSet
from nl2sql.units import read_unit
from ranking.query import ColumnUse, Query, find_output

# A figure rounded to fewer decimals may say something else: an average of 0.4 is not 0. The
# comparison of results rounds to the most.
_FEWEST_DECIMALS, _MOST_DECIMALS = 2, 4
# What stands for any figure by which the rows are the first.
_RANKED = "*"


def read_display(query: Query) -> Display:
    """The display of a single SELECT; that of anything else is unknown.

    >>> from ranking.query import read_query
    >>> read_display(read_query("SELECT MAP {1: a} FROM t", "duckdb")).shown
    ('MAP {1: a}',)
    """
    select = query.tree
    if not isinstance(select, exp.Select):
        return Display()
    return Display(tuple(_list_shown(query, select)), _find_digits(select), _find_periods(select))


def _list_shown(query: Query, select: exp.Select) -> Iterator[str]:
    is_first = bool(select.args.get("order") and select.args.get("limit"))
    ranked = _find_ranked(select) if is_first else ()
    for at, output in enumerate(select.expressions):
        shown = output.unalias()
        if isinstance(shown, exp.Column) and not shown.is_star:
            use = query.resolve(shown)
            yield query.name_values(use) if use is not None else ""
        elif not shown.is_star:
            is_figure = shown.find(exp.AggFunc, exp.Window) is not None
            yield _RANKED if at in ranked else "" if is_figure else shown.sql(query.dialect)
        else:
            for alias, source in query.sources(select).items():
                if isinstance(source, Table) and shown.text("table").lower() in ("", alias):
                    for column in source.columns:
                        yield query.name_values(ColumnUse(alias, source, column))


def _find_digits(select: exp.Select) -> int | None:
    """The fewest decimals of an output that is rounded; None if none is, or to too few or many."""
    decimals = []
    for output in select.expressions:
        rounded = output.unalias()
        if isinstance(rounded, exp.Round):
            count = rounded.args.get("decimals")
            decimals.append(
                int(count.name) if isinstance(count, exp.Literal) and count.is_int else 0
            )
    fewest = min(decimals, default=0)
    return fewest if _FEWEST_DECIMALS <= fewest <= _MOST_DECIMALS else None


def _find_periods(select: exp.Select) -> tuple[tuple[int, str], ...]:
    """The positions of years and months of one date; none if there are several dates."""
    dates = set()
    periods = []
    for at, output in enumerate(select.expressions):
        shown = output.unalias()
        while isinstance(shown, exp.Cast):
            shown = shown.this
        if says := _read_period(shown):
            date = shown.expression if isinstance(shown, exp.Extract) else shown.this
            while isinstance(date, exp.Cast | exp.TsOrDsToDate | exp.TsOrDsToTimestamp):
                date = date.this
            dates.add(date)
            periods.append((at, says))
    return tuple(periods) if len(dates) == 1 else ()


def _read_period(shown: exp.Expr) -> str:
    if isinstance(shown, exp.Extract):
        return {"YEAR": "y", "MONTH": "m"}.get(shown.name.upper(), "")
    if isinstance(shown, exp.Year | exp.Month):
        return "y" if isinstance(shown, exp.Year) else "m"
    if isinstance(shown, exp.TimestampTrunc | exp.DateTrunc):
        return {"YEAR": "y", "MONTH": "ym"}.get(shown.text("unit").upper(), "")
    if isinstance(shown, exp.TimeToStr):
        return {"%Y": "y", "%m": "m", "%Y-%m": "ym", "%Y-%m-01": "ym"}.get(shown.text("format"), "")
    return ""


def _find_ranked(select: exp.Select) -> tuple[int, ...]:
    """The positions of computed figures that choose the first rows, beside what names them."""
    outputs = [output.unalias() for output in select.expressions]
    chosen = [find_output(item.this, select) for item in select.args["order"].expressions]
    ranked = tuple(
        at for at, output in enumerate(outputs) if output in chosen and output.find(exp.AggFunc)
    )
    return ranked if len(ranked) < len(outputs) else ()


_PERCENT = "%"
# What has the unit of its first argument.
_KEEPING = (
    exp.Alias,
    exp.Paren,
    exp.Cast,
    exp.Round,
    exp.Abs,
    exp.Nullif,
    exp.Coalesce,
    exp.Window,
    exp.Filter,
    exp.Distinct,
    exp.Avg,
    exp.Min,
    exp.Max,
)


def add_units(result: ResultSet, query: Query | None) -> ResultSet:
    """The result with the units that the comments and names of the columns of its outputs state.

    Whatever changes the unit, such as a count, a quotient or a product, has none.
    """
    if query is None or len(query.outputs()) != len(result.columns):
        return result
    units = [_find_unit(output, query) for output in query.outputs()]
    return replace(result, units=tuple(units)) if any(units) else result


def _find_unit(node: exp.Expr, query: Query) -> str:
    if isinstance(node, exp.Column):
        use = query.resolve(node)
        return read_unit(use.column.name, use.column.comment) if use is not None else ""
    if isinstance(node, _KEEPING):
        return _find_unit(node.this, query)
    if isinstance(node, exp.Sum):
        unit = _find_unit(node.this, query)
        return "" if unit == _PERCENT else unit
    if isinstance(node, exp.Add | exp.Sub):
        left, right = (_find_unit(side, query) for side in (node.this, node.expression))
        return left if left == right else ""
    return ""
