"""Describes to a principal the rows that it may see: in traces, the profile and the tools.

For a filter on columns that the principal may read, it shows the principal's own values
(``region_id IN (3, 5)``); for any other filter, only that there is one. It never shows constants of
the policy, columns that are hidden or masked, or the tables from which rows inherit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal

from sqlglot import exp

from execution.policies.access import Access
from execution.policies.parameters import Bound, BoundValue
from execution.policies.rules import TableRule
from nl2sql.sql.names import quote_name
from nl2sql.sql.nodes import list_conjuncts

_MOST_VALUES = 12
_LONGEST_TEXT = 80


def describe_rows(access: Access, tables: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of a table (``schema.table``) and its condition, for tables with hidden rows.

    The condition is empty if it must not be shown.
    """
    if access.view is None:
        return ()
    found = []
    for qualified in tables:
        rules = access.view.rules_of(qualified)
        if rules and not any(rule.shows_every_row for rule in rules):
            # Several roles see different rows.
            told = _describe(rules[0], access) if len(rules) == 1 else ""
            found.append((qualified, told))
    return tuple(found)


def _describe(rule: TableRule, access: Access) -> str:
    if rule.filter is None:
        return ""
    parts = [_describe_part(part, rule, access) for part in list_conjuncts(rule.filter)]
    return " AND ".join(parts) if all(parts) else ""


def _describe_part(part: exp.Expr, rule: TableRule, access: Access) -> str:
    """``column = value`` or ``column IN (values)``; empty for anything else."""
    part = part.unnest()
    if isinstance(part, exp.EQ):
        column, value = part.this, part.expression
        if isinstance(column, exp.Placeholder):
            column, value = value, column
    elif isinstance(part, exp.In):
        column, value = part.this, part.args.get("field")
    else:
        return ""
    if not isinstance(column, exp.Column) or not isinstance(value, exp.Placeholder):
        return ""
    shown = {column.name for column in rule.columns} - set(rule.masks)
    if column.name not in shown or value.name not in access.values:
        return ""
    text = _render_value(access.values[value.name])
    name = quote_name(column.name, access.catalog.dialect)
    return text and f"{name} {'IN' if isinstance(part, exp.In) else '='} {text}"


def _render_value(value: BoundValue) -> str:
    """The value as SQL; empty if it is too long to show, or is not plain text.

    >>> _render_value(("DE", "FR")), _render_value(7), _render_value(()), _render_value("a\\nb")
    ("('DE', 'FR')", '7', '', '')
    """
    if not isinstance(value, tuple):
        return _render_scalar(value)
    texts = [_render_scalar(item) for item in value]
    return f"({', '.join(texts)})" if texts and all(texts) and len(texts) <= _MOST_VALUES else ""


def _render_scalar(value: Bound) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float | Decimal):
        return str(value)
    text = value.isoformat() if isinstance(value, dt.date) else value
    if not text.isprintable() or len(text) > _LONGEST_TEXT or "`" in text:
        return ""
    return "'" + text.replace("'", "''") + "'"
