"""Compares the vote with simpler ways to choose among the same candidates.

The first sample is the answer without any choice; the majority counts equal results, without scores
or weights. Both are compared with the vote question by question. A repair has the samples that it
took over, so all ways choose among the same repaired candidates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evaluation.metrics.claims import find_claim
from evaluation.metrics.figures import PairedComparison
from evaluation.metrics.pairing import compare_marks
from evaluation.runs.records import CandidateRecord, QuestionRecord

VOTE, MAJORITY, FIRST = "vote", "majority", "first sample"

_NUMBER = re.compile(r"\d+")


def is_first_correct(record: QuestionRecord) -> bool:
    """True if the first sampled query is right without repair."""
    return any(
        candidate.id == "c1" and candidate.origin == "sample" and candidate.correct
        for candidate in record.candidates
    )


def is_majority_correct(record: QuestionRecord) -> bool:
    """True if the result of most samples is right; among equals, the first drawn is taken.

    An empty result counts like any other. False if no candidate gave a result.
    """
    groups: dict[int, list[CandidateRecord]] = {}
    for candidate in sorted(record.candidates, key=_order_drawn):
        if candidate.group >= 0:
            groups.setdefault(candidate.group, []).append(candidate)
    # Among equals, ``max`` returns the first, and groups are in the order of drawing.
    largest = max(
        groups.values(), key=lambda group: sum(member.samples for member in group), default=[]
    )
    return bool(largest) and largest[0].correct


def is_vote_correct(record: QuestionRecord) -> bool:
    """True if the vote's winner is right, even if the outcome was clarify."""
    claim = find_claim(record)
    return claim is not None and claim.right


def has_groups(records: Sequence[QuestionRecord]) -> bool:
    """True if results were grouped by a vote."""
    return any(candidate.group >= 0 for record in records for candidate in record.candidates)


def compare_selection(records: Sequence[QuestionRecord]) -> PairedComparison | None:
    """Compares the vote with the better of first sample and majority (if equal, the majority).

    None if there was nothing to choose: no vote, or a single sample of each question.
    """
    counted = [record for record in records if record.counts]
    if not has_groups(counted) or all(record.k <= 1 for record in counted):
        return None
    simpler = {
        MAJORITY: {record.id: is_majority_correct(record) for record in counted},
        FIRST: {record.id: is_first_correct(record) for record in counted},
    }
    best = max(simpler, key=lambda name: sum(simpler[name].values()))
    chosen: Mapping[str, bool] = {record.id: is_vote_correct(record) for record in counted}
    return compare_marks(best, simpler[best], VOTE, chosen)


def _order_drawn(candidate: CandidateRecord) -> tuple[int, str]:
    """Sort key: candidates are numbered in the order of drawing; a repair follows its original."""
    found = _NUMBER.search(candidate.id)
    return (int(found.group()) if found else 0, candidate.id)
