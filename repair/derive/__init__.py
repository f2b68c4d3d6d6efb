"""Derived candidates: near neighbours of a query that runs, which a person would try next.

All rules are listed in one tuple. A rule takes an ``Original`` and yields changed copies of its
query. Nothing here decides which query is right: a derived candidate is guarded, explained and run
like any other; those of ``ASKED`` may win against samples that all agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.parsing import read_tree, write_tree
from nl2sql.types import Plan, SchemaContext
from repair.autocorrect.table_lookup import TableLookup
from repair.corrected import MOST_CHARS
from repair.derive.compared_values import compared_values
from repair.derive.conditions import both_conditions, whole_days
from repair.derive.defined_measures import defined_measures
from repair.derive.named_days import named_days
from repair.derive.orders import nulls_last, oldest_first
from repair.derive.original import Original
from repair.derive.outputs import asked_rounding, shown_names
from repair.derive.periods import present_rows
from repair.derive.tables import counted_tables, unmatched_rows
from repair.derive.units import asked_units
from repair.derive.values import grounded_values, stored_flags

Rule = Callable[[Original], Iterator[exp.Expr]]

# What the question's words or the query's conditions say and the query does not do; the vote trusts
# these.
ASKED: tuple[Rule, ...] = (
    asked_rounding,
    nulls_last,
    compared_values,
    asked_units,
    oldest_first,
    present_rows,
    counted_tables,
    unmatched_rows,
    stored_flags,
    whole_days,
    named_days,
)
# The first says which results are of one reading. Of the last, the first have made right candidates
# most often for each candidate that they made.
RULES: tuple[Rule, ...] = (shown_names, defined_measures, *ASKED, both_conditions, grounded_values)

_ASKED_NAMES = frozenset(rule.__name__ for rule in ASKED)


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived query, the number of the query it was made from, and the rule.

    The numbers of the derived queries follow those of the queries that were given.
    """

    sql: str
    parent: int
    rule: str


def derive_queries(
    queries: Sequence[str],
    question: str,
    context: SchemaContext,
    plan: Plan,
    *,
    known: Sequence[str] = (),
    most: int,
    rules: Sequence[Rule] = RULES,
) -> tuple[Derived, ...]:
    """At most ``most`` new queries; those of earlier rules, then of earlier queries, first.

    None has the normal form of another or of one that is ``known``, except the names for keys of
    ``shown_names``, which tell that the known one is of the same reading. What the question asks
    for is derived with names for its keys, too. A rule that cannot read a query derives nothing
    from it.
    """
    seen = {normal_form(sql, context.dialect) for sql in (*queries, *known)}
    named: set[str] = set()
    found: list[Derived] = []

    def add(derived: Derived) -> bool:
        form = normal_form(derived.sql, context.dialect)
        made = named if derived.rule == shown_names.__name__ else seen
        is_new = form not in made and len(found) < most
        if is_new:
            made.add(form)
            seen.add(form)
            found.append(derived)
        return is_new

    for derived in _derive_all(queries, question, context, plan, rules):
        if len(found) >= most:
            break
        if add(derived) and derived.rule in _ASKED_NAMES:
            number = len(queries) + len(found) - 1
            for each in _derive_all((derived.sql,), question, context, plan, (shown_names,)):
                add(replace(each, parent=number))
    return tuple(found)


def _derive_all(
    queries: Sequence[str],
    question: str,
    context: SchemaContext,
    plan: Plan,
    rules: Sequence[Rule],
) -> Iterator[Derived]:
    originals = []
    for number, sql in enumerate(queries):
        visible = TableLookup(context, plan)
        try:
            if len(sql) <= MOST_CHARS:
                tree = read_tree(sql, context.dialect)
                if isinstance(tree, exp.Query):
                    originals.append((number, Original(tree, visible, question)))
        except (SqlglotError, RecursionError):
            continue
    for rule in rules:
        for number, original in originals:
            for sql in _apply(rule, original):
                yield Derived(sql, number, rule.__name__)


def _apply(rule: Rule, original: Original) -> Iterator[str]:
    try:
        for tree in rule(original):
            yield write_tree(tree, original.visible.dialect)
    except (SqlglotError, RecursionError):
        return
