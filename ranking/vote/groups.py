"""Groups the candidates that vote together.

A form has equivalent results, by the comparator of the evaluation. Forms that differ only in how
they show the same figures of the same things are one group (``readings``). Of a truncated result
only a page is known: it equals another truncated result if the pages are equal. A candidate that
could not be run is alone.

Results are compared pairwise only where they have the same profile; each is read about once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.types import Assessment
from ranking.vote.readings import Forms, join_forms

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
    groups = len(set(readings.values()))
    for number, assessment in enumerate(grouped):
        if assessment.result is None and assessment.unrun:
            grouped[number] = replace(assessment, group=groups)
            groups += 1
    return grouped
