"""The units of a query's outputs: of the columns that they come from, or of a definition.

Only what is stated: in the comment or the name of a column, in the description of a measure, or in
a currency column beside the amount that has one value in all rows. Whatever changes the unit, such
as a count, a quotient or a product, has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from nl2sql.types import ResultSet, SchemaContext
from nl2sql.units import read_unit
from ranking.definition_use import find_uses
from ranking.query import ColumnUse, Query, read_candidate

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
_CODE = re.compile(r"[A-Z]{3}")


def add_units(result: ResultSet, sql: str, context: SchemaContext) -> ResultSet:
    """The result with the units of its columns, as far as they are known."""
    query = read_candidate(sql, context)
    select = query.outermost() if query is not None else None
    if query is None or select is None or select.is_star:
        return result
    outputs: list[exp.Expr] = select.expressions
    if len(outputs) != len(result.columns):
        return result
    units = [
        _find_unit(output, query) or _find_currency(output, outputs, query, result)
        for output in outputs
    ]
    computed = [at for at, output in enumerate(outputs) if output.find(exp.AggFunc)]
    # A definition is recognised in the whole query: with one figure it is this figure.
    if len(computed) == 1 and not units[computed[0]]:
        units[computed[0]] = next(_list_defined(query, context), "")
    return replace(result, units=tuple(units)) if any(units) else result


def _list_defined(query: Query, context: SchemaContext) -> Iterator[str]:
    for use in find_uses(query, context):
        if use.computes and use.definition.kind == "measure":
            yield read_unit("", use.definition.description)


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


def _find_currency(
    output: exp.Expr, outputs: list[exp.Expr], query: Query, result: ResultSet
) -> str:
    """The one value of a currency column of the same table, for an amount in its currency.

    Beside an aggregate, a plain column is what the rows are grouped by.
    """
    amount = _find_column(output, query)
    if amount is None or "currency" not in amount.column.comment.lower():
        return ""
    for at, other in enumerate(outputs):
        use = query.resolve(other.unalias())
        if use is None or use.source != amount.source or "currency" not in use.column.name.lower():
            continue
        values = {str(row[at]) for row in result.rows}
        if other is not output and len(values) == 1:
            (code,) = values
            return code if _CODE.fullmatch(code) else ""
    return ""


def _find_column(output: exp.Expr, query: Query) -> ColumnUse | None:
    inner = output.unalias()
    while isinstance(inner, (*_KEEPING, exp.Sum)) and not isinstance(inner, exp.Window):
        inner = inner.this
    return query.resolve(inner)
