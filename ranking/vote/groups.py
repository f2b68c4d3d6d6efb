"""Groups the candidates that vote together.

A group has equivalent results, by the comparator of the evaluation. Of a truncated result only a
page is known: it equals another truncated result if the pages are equal. A candidate that could not
be run joins a candidate with the same plan, and is alone if its plan is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.results.equivalence import are_equivalent
from nl2sql.types import Assessment, ResultSet

NO_GROUP = -1


def group_assessments(assessments: Sequence[Assessment]) -> list[Assessment]:
    """The assessments with their groups, numbered from 0; wrong candidates keep -1."""
    results: list[ResultSet] = []
    grouped = [
        replace(assessment, group=_find_group(assessment, results)) for assessment in assessments
    ]
    plans = {
        plan: assessment.group
        for assessment in reversed(grouped)
        if assessment.group != NO_GROUP and (plan := _find_plan(assessment))
    }
    groups = len(results)
    for number, assessment in enumerate(grouped):
        if assessment.result is not None or not assessment.unrun:
            continue
        plan = _find_plan(assessment)
        group = plans.get(plan, groups)
        if group == groups:
            groups += 1
            if plan:
                plans[plan] = group
        grouped[number] = replace(assessment, group=group)
    return grouped


def agree(left: ResultSet, right: ResultSet) -> bool:
    """True if the results are the same, as far as they are known.

    A page never equals a complete result, which has no more rows.
    """
    return left.truncated == right.truncated and are_equivalent(left.rows, right.rows)


def _find_group(assessment: Assessment, results: list[ResultSet]) -> int:
    if assessment.result is None:
        return NO_GROUP
    for number, other in enumerate(results):
        if agree(assessment.result, other):
            return number
    results.append(assessment.result)
    return len(results) - 1


def _find_plan(assessment: Assessment) -> str:
    return assessment.explained.plan if assessment.explained else ""
