"""The columns that the row filters of a table read, against which database plans are checked.

A plan shows a filter as conditions on these columns, in any form. If the principal's values can
make the condition disappear (``:is_head OR department_id = :department_id``), a plan need not
contain one, and no column is listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from execution.policies.rules import Rules

# Qualified table → columns, at least one of which a condition must use; empty if none is required.
Filters = Mapping[str, frozenset[str]]

# Operators whose conditions a planner may remove as always true. OR and CASE are functions in
# sqlglot.
_UNCERTAIN = (exp.Not, exp.Is, exp.Func)


def list_filters(rules: Rules, qualified: str) -> Filters:
    """The filter columns of a table and of those from which it inherits its rows."""
    rule = rules[qualified]
    if rule.inherits is not None:
        parents = list_filters(rules, rule.inherits.target)
        return {**parents, qualified: frozenset(rule.inherits.columns)}
    if rule.filter is None or any(map(_is_uncertain, rule.filter.walk())):
        return {qualified: frozenset()}
    return {qualified: frozenset(column.name for column in rule.filter.find_all(exp.Column))}


def _is_uncertain(node: exp.Expr) -> bool:
    return isinstance(node, _UNCERTAIN) and not isinstance(node, exp.And | exp.Cast)


def merge_filters(several: Iterable[Filters]) -> dict[str, frozenset[str]]:
    """Merges the filters of one query: the union of a table's columns, or none if one has none.

    >>> one, other = {"s.t": frozenset({"a"})}, {"s.t": frozenset({"b"}), "s.u": frozenset()}
    >>> sorted(merge_filters([one, other])["s.t"])
    ['a', 'b']
    """
    merged: dict[str, frozenset[str]] = {}
    for filters in several:
        for table, columns in filters.items():
            known = merged.get(table, columns)
            merged[table] = known | columns if known and columns else frozenset()
    return merged
