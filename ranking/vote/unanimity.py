"""Samples that all agree, and the candidates that may not win against them.

A result that no sample has is a guess of a rule. Against samples that agree it wins only where it
repairs a failure that the data or the words of a person show: they find nothing, count the rows of
one name, miss a spelling of a value, ignore a definition, or do not do what the question's words
say (``ASKED_RULES``). Samples that could not be run as they were drawn are a failure too, so
repaired ones do not make a vote unanimous. A guess that may not win stays in the ranking: its
weight lowers the confidence, and it may be an interpretation.
"""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.types import Assessment
from ranking.score.plan_terms import ASKED_RULES
from ranking.score.result_terms import EMPTY_TERMS

# Terms of the score that show a failure, whatever the question means.
_FAILURES = EMPTY_TERMS | {"spellings_missed", "lint:counted_name"}


def find_contradicting(assessments: Sequence[Assessment], samples: int) -> frozenset[str]:
    """The ids of the candidates that contradict all samples and repair nothing.

    ``assessments`` have their groups. Empty unless a quorum of the ``samples`` ran as they were
    drawn and every one that has a result has the same.
    """
    voted = {each.group for each in assessments if each.group >= 0 and each.candidate.samples}
    agreeing = [
        each
        for each in assessments
        if each.group in voted
        and each.unrun != "estimate"
        and each.candidate.origin == "sample"
        and each.candidate.samples
    ]
    drawn = sum(each.candidate.samples for each in agreeing)
    if len(voted) != 1 or not is_quorum(drawn, samples):
        return frozenset()
    failures = frozenset.intersection(*(_list_failures(each) for each in agreeing))
    definitions = frozenset.intersection(*(frozenset(each.definitions) for each in agreeing))
    mended = {each.group for each in assessments if _mends(each, failures, definitions)}
    return frozenset(each.candidate.id for each in assessments if each.group not in voted | mended)


def is_quorum(agreeing: int, samples: int) -> bool:
    """True for more than half of at least two samples.

    >>> is_quorum(2, 3), is_quorum(2, 4), is_quorum(1, 1)
    (True, False, False)
    """
    return agreeing >= 2 and agreeing * 2 > samples


def _mends(guess: Assessment, failures: frozenset[str], definitions: frozenset[str]) -> bool:
    """True if it fails in nothing else and, of what the samples fail in, in less."""
    remaining = _list_failures(guess)
    is_asked = guess.candidate.rule in ASKED_RULES or definitions < frozenset(guess.definitions)
    return remaining < failures or (remaining <= failures and is_asked)


def _list_failures(assessment: Assessment) -> frozenset[str]:
    return frozenset(term.name for term in assessment.score.terms) & _FAILURES
