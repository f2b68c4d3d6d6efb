"""Which candidates vote together.

Those with equivalent results, by the comparator of the evaluation. Of a result that was cut only a
page is known: it is equal to another one that was cut, if the pages are. What could not be run goes
by its plan: it joins a candidate whose plan is the same, and stands alone where no plan is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.results.equivalence import are_equivalent
from nl2sql.types import Assessment, ResultSet

NO_GROUP = -1


def group_assessments(assessments: Sequence[Assessment]) -> list[Assessment]:
    """The same with their groups, numbered from 0; what is wrong keeps -1."""
    results: list[ResultSet] = []
    grouped = [
        replace(assessment, group=_find_group(assessment, results)) for assessment in assessments
    ]
    plans = {
        plan: each.group
        for each in reversed(grouped)
        if each.group != NO_GROUP and (plan := _find_plan(each))
    }
    groups = len(results)
    for number, each in enumerate(grouped):
        if each.result is not None or not each.unrun:
            continue
        plan = _find_plan(each)
        group = plans.get(plan, groups)
        if group == groups:
            groups += 1
            if plan:
                plans[plan] = group
        grouped[number] = replace(each, group=group)
    return grouped


def agree(left: ResultSet, right: ResultSet) -> bool:
    """True when the results are the same, as far as they were seen.

    A page is never the same as a whole result: that one would have no more rows.
    """
    return left.truncated == right.truncated and are_equivalent(left.rows, right.rows)


def _find_group(each: Assessment, results: list[ResultSet]) -> int:
    if each.result is None:
        return NO_GROUP
    for number, other in enumerate(results):
        if agree(each.result, other):
            return number
    results.append(each.result)
    return len(results) - 1


def _find_plan(each: Assessment) -> str:
    return each.explained.plan if each.explained else ""
