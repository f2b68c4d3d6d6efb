"""What an observer of a question hears while it is answered."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.types.execution import ResultSet
from nl2sql.types.ranking import Assessment, Ranking, Repair


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage has processed ``done`` of ``total`` candidates; 0 of 0 if it counts none.

    While the language model runs: how many of the ``prompt_tokens`` it has read, and how many
    ``answer_tokens`` it has written, in all candidates together.
    """

    stage: str
    done: int = 0
    total: int = 0
    prompt_tokens_read: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CandidateAssessed:
    """The guard and the planner have judged a candidate."""

    assessment: Assessment


@dataclass(frozen=True, slots=True)
class VoteCounted:
    """The candidates so far have voted."""

    ranking: Ranking


@dataclass(frozen=True, slots=True)
class RepairTried:
    """A repair was tried."""

    repair: Repair


@dataclass(frozen=True, slots=True)
class RowsFetched:
    """The rows of the answer are there."""

    sql: str
    result: ResultSet


QuestionEvent = Progress | CandidateAssessed | VoteCounted | RepairTried | RowsFetched
