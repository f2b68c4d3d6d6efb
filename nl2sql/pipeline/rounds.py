"""Merges the candidates of a new sampling round with those that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.sql.normal_form import normal_form
from nl2sql.types import Assessment, Candidate


def merge_round(
    known: tuple[Assessment, ...], drawn: tuple[Candidate, ...], dialect: str
) -> tuple[tuple[Assessment, ...], tuple[Candidate, ...]]:
    """Returns the known assessments with the new samples added, and the new candidates.

    Candidates of the same normal form are the same; new ones get the next numbers. If a repair
    took over the samples of a candidate, further samples go to the repair.
    """
    forms = {
        normal_form(assessment.candidate.sql, dialect): number
        for number, assessment in enumerate(known)
        if not assessment.candidate.repairs
    }
    merged = list(known)
    new: list[Candidate] = []
    for candidate in drawn:
        number = forms.get(normal_form(candidate.sql, dialect))
        if number is None:
            new.append(replace(candidate, id=f"c{len(forms) + len(new) + 1}"))
            continue
        holder = _find_holder(merged, number)
        grown = add_samples(merged[holder].candidate, candidate.samples, candidate.logprob)
        merged[holder] = replace(merged[holder], candidate=grown)
    return tuple(merged), tuple(new)


def add_samples(candidate: Candidate, samples: int, logprob: float | None) -> Candidate:
    """The candidate with further samples and the highest log-probability of any.

    >>> grown = add_samples(Candidate("c1", "SELECT 1", 2, logprob=-0.3), 1, -0.1)
    >>> grown.samples, grown.logprob
    (3, -0.1)
    """
    known = [value for value in (candidate.logprob, logprob) if value is not None]
    return replace(candidate, samples=candidate.samples + samples, logprob=max(known, default=None))


def _find_holder(assessments: Sequence[Assessment], number: int) -> int:
    """The index of what holds a candidate's samples: itself, or its last repair that took them."""
    repairs = {
        assessment.candidate.repairs: index
        for index, assessment in enumerate(assessments)
        if assessment.candidate.repairs
    }
    here = number
    while (after := repairs.get(assessments[here].candidate.id)) is not None:
        here = after
    return here if assessments[here].candidate.samples else number
