"""What the vote adds over simpler ways to choose among the very same candidates.

The first sample is what one gets without any choice; the majority counts results and nothing else:
no score, no doubt about empty results. Both are held against the vote question by question. A
repair stands for the samples that it took over, so all ways choose from what was repaired alike.
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
    """True when the first query was right as it came: a repair is another candidate."""
    return any(
        candidate.id == "c1" and candidate.origin == "sample" and candidate.correct
        for candidate in record.candidates
    )


def is_majority_correct(record: QuestionRecord) -> bool:
    """True when the result that most samples gave is right; of equally many, the one drawn first.

    An empty result counts like any other. False where no candidate gave a result.
    """
    groups: dict[int, list[CandidateRecord]] = {}
    for candidate in sorted(record.candidates, key=_order_drawn):
        if candidate.group >= 0:
            groups.setdefault(candidate.group, []).append(candidate)
    # The first of equals wins: ``max`` keeps it, and groups stand as they were drawn.
    largest = max(
        groups.values(), key=lambda group: sum(each.samples for each in group), default=[]
    )
    return bool(largest) and largest[0].correct


def is_vote_correct(record: QuestionRecord) -> bool:
    """True when the query that the vote put first is right, also where it was not given."""
    claim = find_claim(record)
    return claim is not None and claim.right


def has_groups(records: Sequence[QuestionRecord]) -> bool:
    """True when results were grouped, as a vote does."""
    return any(candidate.group >= 0 for record in records for candidate in record.candidates)


def compare_selection(records: Sequence[QuestionRecord]) -> PairedComparison | None:
    """The vote against the better of first sample and majority, the majority among equals.

    None where there was nothing to choose: no vote, or a single sample of each question.
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
    """Candidates are numbered as they were drawn; a repair follows what it repairs."""
    found = _NUMBER.search(candidate.id)
    return (int(found.group()) if found else 0, candidate.id)
