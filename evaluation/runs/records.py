"""The records of a run: one JSON line per question, from which all figures and charts are made.

They are pydantic models because other commands and versions read them. Milliseconds and seconds
are wall time.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base: immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Preview(Record):
    """The first rows of a result as JSON values. ``rows_in_all`` counts every row fetched."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    rows_in_all: int = 0


class CandidateRecord(Record):
    """One candidate in the vote, and whether it is right.

    ``samples`` counts its completions; a repair that works has taken over those of the candidate
    that it ``repairs``. A derived one was made from another by a ``rule``. ``group`` is the number
    of its group of equivalent results, -1: no result. ``error`` is empty, the guard's ``code:
    message``, or the database's ``SQLSTATE: message``.
    """

    id: str
    sql: str
    origin: str = "sample"
    repairs: str = ""
    derived_from: str = ""
    rule: str = ""
    samples: int = 1
    votes: int = 0
    group: int = -1
    score: float = 0.0
    error: str = ""
    correct: bool = False


class RepairRecord(Record):
    """One attempt at repair, by the ``rules`` that changed something, or by the model.

    ``error_class`` is the class of the error before the repair; empty for a query that ran.
    """

    candidate: str
    cause: str
    method: str
    outcome: str
    sql: str = ""
    rules: tuple[str, ...] = ()
    error_class: str = ""
    correct_before: bool = False
    correct_after: bool = False


class QuestionRecord(Record):
    """One question of a benchmark, its outcome, and the comparison with the gold result.

    ``gold_error`` is set if the question is not counted: the database is missing, or the gold query
    fails or is refused. ``outcome`` is ``answered``, ``refused``, ``clarify``, ``failed``, or
    ``error`` if the pipeline raised; ``reason`` then says why. ``correct`` compares the
    answer with the gold result; ``accepted`` compares the first candidate with a result, answered
    or not, with what a person accepts. ``candidates`` are in the order of the ranking. What only
    other versions recorded is ignored.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    database: str
    question: str
    evidence: str = ""
    difficulty: str = ""
    gold: str
    gold_error: str = ""
    gold_result: Preview = Preview()
    outcome: str = "error"
    reason: str = ""
    sql: str = ""
    result: Preview = Preview()
    k: int = 1
    confidence: float = 0.0
    quorum: bool = False
    correct: bool = False
    accepted: bool = False
    candidates: tuple[CandidateRecord, ...] = ()
    repairs: tuple[RepairRecord, ...] = ()
    stages_ms: dict[str, float] = {}
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    trace: dict[str, Any] = {}

    @property
    def counts(self) -> bool:
        """True if the gold query gave a result to compare with."""
        return not self.gold_error
