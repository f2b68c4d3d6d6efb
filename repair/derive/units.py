"""Figures in the unit of time that the question says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.languages.english import NUMBER_WORDS
from nl2sql.sql.nodes import find_all
from nl2sql.units import find_unit
from repair.autocorrect.select_scopes import SelectScope
from repair.derive.original import Original
from repair.derive.outputs import asked_rounding

# Unit of time in the singular → how many seconds it has.
_SECONDS = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_UNIT = "|".join(_SECONDS)
_TOLD = re.compile(rf"\b(?:in|of|,)\s+({_UNIT})s\b|^({_UNIT})s\b", re.IGNORECASE)
_NUMBER = rf"\d[\d,]*(?:\.\d+)?|{'|'.join(NUMBER_WORDS)}|half an?|an?"
# "Of the last 30 days" is no length of time, "a second run" neither; "an hour and a half" and "half
# of an hour" are other ones.
_DURATION = re.compile(
    rf"(?<!last )(?<!past )(?<!next )(?<!of )\b(?!a second\b)(?P<number>{_NUMBER})[\s-]+"
    rf"(?P<unit>{_UNIT})s?\b(?! and )",
    re.IGNORECASE,
)
_ASKED = re.compile(rf"\b(?:how many|number of|total|in)\s+(?P<unit>{_UNIT})s\b", re.IGNORECASE)
# How a number that was said may stand in a query: in another unit, or with zeros too many.
_RATIOS = frozenset(one / other for one in _SECONDS.values() for other in _SECONDS.values()).union(
    10.0**zeros for zeros in range(3, 7)
)
_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def asked_units(original: Original) -> Iterator[exp.Expr]:
    """``milliseconds > 10000``, for "longer than 10 minutes", becomes ``milliseconds > 600000``.

    And ``sum(milliseconds) / 60``, for "how many hours", becomes ``sum(milliseconds) / 3600000``:
    where the name or the comment of a column tells its unit, and the question says one length of
    time, or one unit. Only the number that was said is converted, and only the one figure that is
    shown.
    """
    yield from _convert_literals(original)
    yield from _convert_figures(original)


def _convert_literals(original: Original) -> Iterator[exp.Expr]:
    said = list(_DURATION.finditer(original.question))
    if len(said) != 1:
        return
    number = _read_number(said[0]["number"])
    wanted = number * _SECONDS[said[0]["unit"].lower()]
    for scope in original.scopes:
        compared = [
            (node, own)
            for node in find_all(scope.select, *_COMPARISONS)
            if node.parent_select is scope.select
            and isinstance(node.expression, exp.Literal)
            and not node.expression.is_string
            and (own := _find_seconds(original, scope, node.this)) is not None
        ]
        if len(compared) != 1:
            continue
        node, own = compared[0]
        figure = exp.Literal.number(f"{wanted / own:.12g}")
        if figure != node.expression and _is_said(float(node.expression.this), number):
            draft = original.draft()
            draft.of(node).set("expression", figure)
            yield draft.tree


def _read_number(text: str) -> float:
    """
    >>> _read_number("1,200"), _read_number("half an"), _read_number("two")
    (1200.0, 0.5, 2.0)
    """
    text = text.lower().replace(",", "")
    if text[0].isdigit():
        return float(text)
    return 0.5 if text.startswith("half") else float(NUMBER_WORDS.get(text, 1))


def _is_said(literal: float, number: float) -> bool:
    """Whether a literal is that number in some unit, or with zeros too many: "10 minutes" as 600.

    >>> _is_said(10000, 10), _is_said(1000000, 10), _is_said(0, 10)
    (True, True, False)
    """
    return any(math.isclose(literal, number * ratio) for ratio in _RATIOS)


def _convert_figures(original: Original) -> Iterator[exp.Expr]:
    asked = {found["unit"].lower() for found in _ASKED.finditer(original.question)}
    if len(asked) != 1:
        return
    wanted = _SECONDS[asked.pop()]
    for scope in original.outermost:
        figures = [
            figure for it in scope.select.expressions for figure in find_all(it, exp.AggFunc)
        ]
        if len(figures) != 1 or not isinstance(figures[0], exp.Sum | exp.Avg | exp.Max | exp.Min):
            continue
        (figure,) = figures
        own = _find_seconds(original, scope, figure.this)
        whole = _climb(figure)
        if own is None or own == wanted or not _is_shown(whole):
            continue
        by = exp.Literal.number(f"{max(wanted / own, own / wanted):.12g}.0")
        draft = original.draft()
        # SQLite and PostgreSQL divide by the types, which the decimals say.
        kind, types = (exp.Div, {"typed": True}) if wanted > own else (exp.Mul, {})
        draft.of(whole).replace(kind(this=figure.copy(), expression=by, **types))
        converted = Original(draft.tree, original.visible, original.question)
        yield next(asked_rounding(converted), draft.tree)


def _climb(figure: exp.Expr) -> exp.Expr:
    """The figure with all constants by which it is multiplied or divided, and casts."""
    parent = figure.parent
    if isinstance(parent, exp.Cast | exp.Paren):
        return _climb(parent)
    if isinstance(parent, exp.Div | exp.Mul) and figure is parent.this:
        return _climb(parent) if _is_constant(parent.expression) else figure
    return figure


def _is_constant(node: exp.Expr) -> bool:
    return not any(find_all(node, exp.Column, exp.AggFunc, exp.Query))


def _is_shown(whole: exp.Expr) -> bool:
    """Whether it is an output, rounded at most: in a larger sum its unit is another matter."""
    parent = whole.parent
    if isinstance(parent, exp.Round | exp.Cast | exp.Paren):
        return _is_shown(parent)
    return isinstance(parent, exp.Alias | exp.Select)


def _find_seconds(original: Original, scope: SelectScope, node: exp.Expr) -> float | None:
    """How many seconds the unit of a column has; None for other expressions and columns."""
    column = original.find_column(node, scope)
    return _read_seconds(column.name, column.comment) if column is not None else None


def _read_seconds(name: str, comment: str) -> float | None:
    """How many seconds the unit of a column has; None if it is no length of time.

    >>> _read_seconds("wait_ms", ""), _read_seconds("Minutes", ""), _read_seconds("at_minute", "")
    (0.001, 60.0, None)
    >>> _read_seconds("length", "Length of the track in seconds"), _read_seconds("wait", "Days")
    (1.0, 86400.0)
    """
    told = _TOLD.search(comment)
    if told is not None:
        return _SECONDS[next(filter(None, told.groups())).lower()]
    unit = find_unit(name) or find_unit(f"its_{name}")
    return _SECONDS.get(unit.removesuffix("s"))
