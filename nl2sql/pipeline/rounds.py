"""Rounds of sampling: what a new round adds to the candidates that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.sql.normal_form import normal_form
from nl2sql.types import Assessment, Candidate


def merge_round(
    known: tuple[Assessment, ...], drawn: tuple[Candidate, ...], dialect: str
) -> tuple[tuple[Assessment, ...], tuple[Candidate, ...]]:
    """What was assessed before, with the samples of a new round, and what the round brings anew.

    Candidates are the same by normal form; new ones are numbered on. The samples of one whose
    repair stands for it go to the repair.
    """
    forms = {
        normal_form(each.candidate.sql, dialect): number
        for number, each in enumerate(known)
        if not each.candidate.repairs
    }
    merged = list(known)
    new: list[Candidate] = []
    for candidate in drawn:
        number = forms.get(normal_form(candidate.sql, dialect))
        if number is None:
            new.append(replace(candidate, id=f"c{len(forms) + len(new) + 1}"))
            continue
        heir = _find_heir(merged, number)
        grown = add_samples(merged[heir].candidate, candidate.samples, candidate.logprob)
        merged[heir] = replace(merged[heir], candidate=grown)
    return tuple(merged), tuple(new)


def add_samples(candidate: Candidate, samples: int, logprob: float | None) -> Candidate:
    """The candidate with further samples, as likely as its likeliest.

    >>> grown = add_samples(Candidate("c1", "SELECT 1", 2, logprob=-0.3), 1, -0.1)
    >>> grown.samples, grown.logprob
    (3, -0.1)
    """
    told = [each for each in (candidate.logprob, logprob) if each is not None]
    return replace(candidate, samples=candidate.samples + samples, logprob=max(told, default=None))


def _find_heir(assessments: Sequence[Assessment], number: int) -> int:
    """Who holds the samples of a candidate: itself, or the last of its repairs that took them."""
    repairs = {
        each.candidate.repairs: at for at, each in enumerate(assessments) if each.candidate.repairs
    }
    here = number
    while (after := repairs.get(assessments[here].candidate.id)) is not None:
        here = after
    return here if assessments[here].candidate.samples else number
