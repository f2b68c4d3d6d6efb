"""Measures whether a result has another shape than was asked for, or is empty."""

from __future__ import annotations

from collections.abc import Iterator

from nl2sql.expectations.expectations import Expectations
from nl2sql.results.cell_values import normalize_value
from nl2sql.types import ResultSet
from ranking.score.points import Measure

RESULT_TERMS = frozenset(
    "width_differs no_rows nulls_only zeros_only whole_shares repeated_rows several_best".split()
)
"""The names of all measures of a result."""

EMPTY_TERMS = frozenset("no_rows nulls_only zeros_only whole_shares".split())
"""The measures of a result that says nothing."""


def measure_result(expected: Expectations, result: ResultSet) -> Iterator[Measure]:
    """Measures of the result's shape. Of a truncated result, only the page is measured.

    >>> from nl2sql.expectations.expectations import read_expectations
    >>> result = ResultSet(("name", "age"), ("text", "int"), (("Ann", 3), ("Ann", 3)), False, 1.0)
    >>> list(measure_result(read_expectations("How many singers are there?"), result))
    [('width_differs', 1.0), ('repeated_rows', 0.5)]
    """
    rows, width = result.rows, len(result.columns)
    if expected.columns and width not in expected.columns:
        yield "width_differs", 1.0
    yield from _measure_emptiness(result)
    if expected.share and _are_whole(result):
        yield "whole_shares", 1.0
    if expected.best and expected.rows is None and not expected.grouped and len(rows) > 1:
        yield "several_best", 1.0
    distinct = len({tuple(map(normalize_value, row)) for row in rows})
    if distinct < len(rows):
        yield "repeated_rows", 1 - distinct / len(rows)


def _measure_emptiness(result: ResultSet) -> Iterator[Measure]:
    """A wrong condition finds nothing more often than a correct one does.

    Cells that were too long to be read are None, and not empty.
    """
    if not result.rows:
        yield "no_rows", 1.0
    elif not result.cut and all(cell is None for row in result.rows for cell in row):
        yield "nulls_only", 1.0
    elif len(result.rows) == 1 and not any(result.rows[0]) and not result.cut:
        yield "zeros_only", 1.0


def _are_whole(result: ResultSet) -> bool:
    """True if a figure is 100 in every row, or the only one 1: a part divided by itself.

    Or if the only one is larger than the whole.
    """
    is_only = len(result.columns) == 1
    return bool(result.rows) and any(
        all(
            isinstance(cell, int | float)
            and (cell == 100 or (is_only and (cell == 1 or cell > 100)))
            for cell in map(normalize_value, column)
        )
        for column in zip(*result.rows, strict=True)
    )
