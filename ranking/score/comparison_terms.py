"""Measures whether a query compares and sorts in the direction that the question names.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.expectations import Expectations
from nl2sql.languages.english import list_english
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from ranking.query import Query
from ranking.score.question_terms import Measure

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_TIMES = list_english("ages")
_EXTREMES = {"max": exp.Max, "min": exp.Min}


def measure_comparisons(expected: Expectations, query: Query) -> Iterator[Measure]:
    """Yields comparisons and orders in the wrong direction, and missing extremes.

    A figure that the query does not contain at all is not checked here.

    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> query = read_query("SELECT name FROM t WHERE age >= 5 ORDER BY age DESC LIMIT 1", "sqlite")
    >>> list(measure_comparisons(read_expectations("The name of the one over 5"), query))
    [('comparison_differs', 1.0)]
    >>> list(measure_comparisons(read_expectations("Who has the lowest age?"), query))
    [('direction_differs', 1.0)]
    """
    if comparisons := expected.comparisons or expected.comparisons_either_way:
        written = set(_list_comparisons(query.tree))
        differ = [
            comparison
            for comparison in comparisons
            if not comparison & written and _is_held(comparison, written)
        ]
        if differ:
            yield "comparison_differs", len(differ) / len(comparisons)
    if _sorts_otherwise(expected, query.tree):
        yield "direction_differs", 1.0
    if expected.extremes:
        names = [column.name.lower() for column in query.find_all(exp.Column)]
        missing = [
            extreme
            for extreme in expected.extremes
            if query.tree.find(_EXTREMES[extreme], exp.Limit, exp.Fetch, exp.Window) is None
            and not any(extreme in name for name in names)
        ]
        if missing:
            yield "extreme_missing", len(missing) / len(expected.extremes)


def _is_held(wanted: frozenset[tuple[str, str]], written: set[tuple[str, str]]) -> bool:
    """True if one of the figures is compared with something, by any operator."""
    return not {figure for _, figure in wanted}.isdisjoint(figure for _, figure in written)


def _list_comparisons(tree: exp.Expr) -> Iterator[tuple[str, str]]:
    """Operator and literal of every comparison, the literal on the right; for a date also its year.

    >>> import sqlglot
    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT 1 FROM t WHERE 5 < a AND b <= '2014-01-01'", "postgres")
    >>> list(_list_comparisons(tree))
    [('>', '5'), ('<=', '2014-01-01'), ('<=', '2014')]
    """
    for node in find_all(tree, *_OPERATORS, exp.Between):
        if isinstance(node, exp.Between):
            # BETWEEN is also written for "over 5 and under 9".
            low, high = node.args["low"], node.args["high"]
            found = [(">=", low), (">", low), ("<=", high), ("<", high)]
        else:
            operator = _OPERATORS[type(node)]
            left, right = node.this, node.args["expression"]
            found = [(operator, right), (_TURNED.get(operator, operator), left)]
        for operator, side in found:
            if isinstance(side, exp.Literal):
                yield operator, side.this
                if side.this[4:5] == "-":
                    yield operator, side.this[:4]


def _sorts_otherwise(expected: Expectations, tree: exp.Expr) -> bool:
    """True if no ORDER BY has the direction, or no LIMIT takes the end, that was asked for."""
    selects = [query for query in find_all(tree, exp.Query) if query.args.get("order")]
    if expected.descending is not None and selects:
        keys = [key for select in selects for key in select.args["order"].expressions]
        return all(bool(key.args.get("desc")) != expected.descending for key in keys)
    firsts = [select.args["order"].expressions[0] for select in selects if select.args.get("limit")]
    wanted = [(key, _find_end(expected, key)) for key in firsts]
    return bool(wanted) and all(
        highest is not None and bool(key.args.get("desc")) != highest for key, highest in wanted
    )


def _find_end(expected: Expectations, key: exp.Expr) -> bool | None:
    """Which end of an order is asked for: the oldest has the highest age, or the first year."""
    if expected.highest is not None or expected.oldest is None:
        return expected.highest
    words = {word for column in find_all(key, exp.Column) for word in split_words(column.name)}
    if "age" in words:
        return expected.oldest
    return not expected.oldest if words & _TIMES else None
