"""The candidates of each question of a run, as the fit of the score reads them.

A candidate without a result takes no part. The strengths of its terms are in the record's trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation.runs.records import QuestionRecord
from nl2sql.types import Candidate
from ranking.vote.weights import find_source


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate with a result: the samples it votes with, its group, its terms."""

    group: int
    source: str
    samples: int
    rule: str
    strengths: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ballot:
    """The candidates of one question that had a result, and the groups that are right."""

    question: str
    database: str
    options: tuple[Option, ...]
    right: frozenset[int]

    @property
    def is_contested(self) -> bool:
        """True if a right and a wrong result can win."""
        groups = {option.group for option in self.options}
        return bool(groups & self.right) and bool(groups - self.right)


def collect_ballots(records: Iterable[QuestionRecord]) -> list[Ballot]:
    """The ballots of a run; one without candidates that ran has no options."""
    return [_read_ballot(record) for record in records if record.counts]


def _read_ballot(record: QuestionRecord) -> Ballot:
    shown = {each["id"]: each for each in record.trace.get("candidates", ())}
    known = {
        each.id: Candidate(
            each.id, each.sql, each.samples, each.origin, derived_from=each.derived_from
        )
        for each in record.candidates
    }
    options = []
    for each in record.candidates:
        if each.group < 0 or each.id not in shown:
            continue
        source, samples = find_source(known[each.id], known)
        strengths = dict(shown[each.id]["score"].get("strengths", {}))
        strengths.pop("base", None)
        options.append(Option(each.group, source, samples, each.rule, strengths))
    return Ballot(
        record.id,
        record.database,
        tuple(options),
        frozenset(each.group for each in record.candidates if each.correct and each.group >= 0),
    )
