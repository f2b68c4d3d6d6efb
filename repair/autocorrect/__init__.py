"""Autocorrect: rules in themes, all listed in one tuple.

A rule takes a SELECT of the query, corrects in place what has only one possible meaning, and
returns whether it changed anything. If there are two possible meanings it does nothing. Rules run
on failed candidates only; the result passes the guard and must win the vote.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.errors import SqlglotError

from nl2sql.sql.parsing import read_tree, write_tree
from nl2sql.types import Plan, SchemaContext
from repair.autocorrect.join_conditions import join_keys
from repair.autocorrect.missing_tables import neighbour_columns
from repair.autocorrect.names import (
    invented_columns,
    invented_date_parts,
    spelled_names,
    spelled_tables,
)
from repair.autocorrect.select_scopes import SelectScope, read_scopes
from repair.autocorrect.sources import wrong_tables
from repair.autocorrect.swapped_names import swapped_names
from repair.autocorrect.table_lookup import TableLookup
from repair.corrected import MOST_CHARS, Corrected

Rule = Callable[[SelectScope], bool]

RULES: tuple[Rule, ...] = (
    # Names first, the most certain rules before those that add a join.
    spelled_tables,
    spelled_names,
    join_keys,
    wrong_tables,
    neighbour_columns,
    invented_columns,
    invented_date_parts,
    swapped_names,
)

# A correction in one pass may let a rule apply in the next; after these passes it stops.
_PASSES = 3
_NO_PLAN = Plan()


def autocorrect_query(
    sql: str,
    context: SchemaContext,
    plan: Plan = _NO_PLAN,
    rules: tuple[Rule, ...] = RULES,
) -> Corrected | None:
    """The corrected query; None if no rule changes it, it does not parse or is too long."""
    if len(sql) > MOST_CHARS:
        return None
    visible = TableLookup(context, plan)
    used: dict[str, None] = {}
    try:
        tree = read_tree(sql, context.dialect).copy()
        scopes = read_scopes(tree, visible)
        for _ in range(_PASSES):
            before = scopes
            for rule in rules:
                changed = [rule(scope) for scope in scopes]
                if any(changed):
                    used[rule.__name__] = None
                    scopes = read_scopes(tree, visible)
            if scopes is before:
                break
        if not used:
            return None
        return Corrected(write_tree(tree, context.dialect), tuple(used))
    except (SqlglotError, RecursionError):
        return None
