"""By which of a table's columns its rows are chosen: what the database's plan is held against.

A plan shows a filter as conditions on these columns, in whatever shape. Where values decide that
there is no condition in the end (``:is_head OR department_id = :department_id``), nothing can be
asked of a plan, and no column is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from execution.policies.rules import Rules

# Qualified table → columns, of which one at least must be in a condition; empty where none need be.
Filters = Mapping[str, frozenset[str]]

# A planner may find out that these are always true. OR and CASE are functions to sqlglot.
_UNCERTAIN = (exp.Not, exp.Is, exp.Func)


def list_filters(rules: Rules, qualified: str) -> Filters:
    """The columns for a table and for those that it inherits its rows from."""
    rule = rules[qualified]
    if rule.inherits is not None:
        parents = list_filters(rules, rule.inherits.target)
        return {**parents, qualified: frozenset(rule.inherits.columns)}
    if rule.filter is None or any(map(_is_uncertain, rule.filter.walk())):
        return {qualified: frozenset()}
    return {qualified: frozenset(column.name for column in rule.filter.find_all(exp.Column))}


def _is_uncertain(node: exp.Expr) -> bool:
    return isinstance(node, _UNCERTAIN) and not isinstance(node, exp.And | exp.Cast)


def merge_filters(each: Iterable[Filters]) -> dict[str, frozenset[str]]:
    """The columns where several of them stand in one query: any of all, or none need be.

    >>> one, other = {"s.t": frozenset({"a"})}, {"s.t": frozenset({"b"}), "s.u": frozenset()}
    >>> sorted(merge_filters([one, other])["s.t"])
    ['a', 'b']
    """
    merged: dict[str, frozenset[str]] = {}
    for filters in each:
        for table, columns in filters.items():
            known = merged.get(table, columns)
            merged[table] = known | columns if known and columns else frozenset()
    return merged
