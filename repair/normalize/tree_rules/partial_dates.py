"""Dates compared with a year or month, or with a day that does not exist."""

from __future__ import annotations

import calendar
import re

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import read_text, write
from repair.normalize.facts import Facts

_TEMPORAL = frozenset({"date", "timestamp"})
_YEAR = re.compile(r"[12]\d{3}")
_MONTH = re.compile(r"[12]\d{3}-(?:0[1-9]|1[0-2])")
_DAY = re.compile(r"([12]\d{3})-(0[1-9]|1[0-2])-(\d\d)(.*)")
_MONTHS = {"postgres": "TO_CHAR({x}, 'YYYY-MM')", "duckdb": "STRFTIME({x}, '%Y-%m')"}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def partial_dates(tree: exp.Expr, facts: Facts) -> bool:
    """``day = '2024'`` becomes ``EXTRACT(YEAR FROM day) = 2024``, on SQLite a comparison of texts.

    ``'2024-05'`` is compared with the month; June 31 becomes June 30.
    """
    if facts.target == "sqlite":
        return False
    changed = False
    for literal in list(find_all(tree, exp.Literal)):
        changed |= _mend_day(literal)
    for node in list(find_all(tree, *_COMPARISONS)):
        if facts.kind_of(node.left) in _TEMPORAL:
            changed |= _compare(node, "this", [node.right], facts)
        elif facts.kind_of(node.right) in _TEMPORAL:
            changed |= _compare(node, "expression", [node.left], facts)
    for between in list(find_all(tree, exp.Between)):
        if facts.kind_of(between.this) in _TEMPORAL:
            changed |= _compare(between, "this", [between.args["low"], between.args["high"]], facts)
    for within in list(find_all(tree, exp.In)):
        if facts.kind_of(within.this) in _TEMPORAL and within.expressions:
            changed |= _compare(within, "this", within.expressions, facts)
    return changed


def _compare(node: exp.Expr, key: str, values: list[exp.Expr], facts: Facts) -> bool:
    """Replaces a date by its year or month, if all values are years or months."""
    texts = [str(value.this) if isinstance(value, exp.Literal) else "" for value in values]
    if all(_YEAR.fullmatch(text) for text in texts):
        node.set(key, write("EXTRACT(YEAR FROM {x})", facts, x=node.args[key]))
        for value, text in zip(values, texts, strict=True):
            value.replace(exp.Literal.number(text))
        return True
    if all(_MONTH.fullmatch(text) for text in texts):
        node.set(key, write(_MONTHS[facts.target], facts, x=node.args[key]))
        return True
    return False


def _mend_day(literal: exp.Literal) -> bool:
    """Replaces a day after the end of its month by the last one."""
    found = _DAY.fullmatch(read_text(literal) or "")
    if found is None:
        return False
    last = calendar.monthrange(int(found[1]), int(found[2]))[1]
    if not last < int(found[3]) <= 31:
        return False
    literal.replace(exp.Literal.string(f"{found[1]}-{found[2]}-{last}{found[4]}"))
    return True
