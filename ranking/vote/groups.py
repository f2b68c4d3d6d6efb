"""Groups the candidates that vote together.

A form has equivalent results, by the comparator of the evaluation. Forms that differ only in how
they show the same figures of the same things are one group (``readings``). Of a truncated result
only a page is known: it equals another truncated result if the pages are equal. A candidate that
could not be run joins a candidate with the same plan, and is alone if its plan is unknown.

Results are compared pairwise only where they have the same profile; each is read about once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.types import Assessment
from ranking.vote.forms import Forms
from ranking.vote.readings import join_forms

NO_GROUP = -1


def group_assessments(assessments: Sequence[Assessment]) -> list[Assessment]:
    """The assessments with their groups, numbered from 0; wrong candidates keep -1."""
    forms = Forms()
    grouped = [
        assessment
        if assessment.result is None
        else replace(assessment, form=forms.find(assessment.result))
        for assessment in (replace(each, form=NO_GROUP) for each in assessments)
    ]
    readings = join_forms(grouped, forms)
    grouped = [
        replace(assessment, group=readings.get(assessment.form, NO_GROUP)) for assessment in grouped
    ]
    plans = {
        plan: assessment.group
        for assessment in reversed(grouped)
        if assessment.group != NO_GROUP and (plan := _find_plan(assessment))
    }
    groups = len(set(readings.values()))
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


def _find_plan(assessment: Assessment) -> str:
    return assessment.explained.plan if assessment.explained else ""
