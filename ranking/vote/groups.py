"""Groups the candidates that vote together.

A group has equivalent results, by the comparator of the evaluation. Of a truncated result only a
page is known: it equals another truncated result if the pages are equal. A candidate that could not
be run joins a candidate with the same plan, and is alone if its plan is unknown.

Results are compared pairwise only where they have the same profile; each is read about once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from nl2sql.results.equivalence import ComparedRows
from nl2sql.types import Assessment, ResultSet

NO_GROUP = -1


def group_assessments(assessments: Sequence[Assessment]) -> list[Assessment]:
    """The assessments with their groups, numbered from 0; wrong candidates keep -1."""
    results = _Results()
    grouped = [
        replace(
            assessment,
            group=NO_GROUP if assessment.result is None else results.find_group(assessment.result),
        )
        for assessment in assessments
    ]
    plans = {
        plan: assessment.group
        for assessment in reversed(grouped)
        if assessment.group != NO_GROUP and (plan := _find_plan(assessment))
    }
    groups = results.groups
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


class _Results:
    """The first result of each group."""

    def __init__(self) -> None:
        self.groups = 0
        self._known: dict[Hashable, list[tuple[int, ComparedRows]]] = {}

    def find_group(self, result: ResultSet) -> int:
        """The group of an equal result, or a new one.

        A page never equals a complete result, which has no more rows.
        """
        compared = ComparedRows(result.rows)
        alike = self._known.setdefault((result.truncated, compared.profile), [])
        for number, other in alike:
            if compared.is_equivalent_to(other):
                return number
        alike.append((self.groups, compared))
        self.groups += 1
        return self.groups - 1


def _find_plan(assessment: Assessment) -> str:
    return assessment.explained.plan if assessment.explained else ""
