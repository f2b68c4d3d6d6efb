"""What a run writes of one question: a JSON line that every figure and picture is made from.

Pydantic, since the lines are read again by other commands, other versions and other people.
Milliseconds and seconds are wall time.
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
    """One candidate as it stood in the vote, and whether it was right.

    ``samples`` is how many of the K completions it stands for; a repair that works has taken them
    over from what it ``repairs``. ``logprob`` is the mean log-probability of a token. ``group``
    numbers equivalent results, -1: no result. ``error`` is empty, the guard's ``code: message``, or
    the database's ``SQLSTATE: message``.
    """

    id: str
    sql: str
    origin: str = "sample"
    repairs: str = ""
    samples: int = 1
    logprob: float | None = None
    votes: int = 0
    group: int = -1
    score: float = 0.0
    error: str = ""
    correct: bool = False


class RepairRecord(Record):
    """One attempt at repair, by the ``rules`` that changed something, or by the model.

    ``error_class`` is the taxonomy's class of what was wrong before; empty for a query that ran.
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
    """One question of a benchmark, what came of it, and how that compares with the gold.

    ``gold_error`` is set when no figure can count this question: the database is missing, or the
    gold query fails or is refused. ``outcome`` is ``answered``, ``refused``, ``clarify``,
    ``failed``, or ``error`` when the pipeline raised; ``reason`` then says why. ``correct`` is
    comparison (a) of the answer that was given, ``bird_ex`` (b), ``soft_f1`` (c); ``r_ves`` (d) is
    None until timed. ``candidates`` are in the order of the ranking.
    """

    id: str
    database: str
    question: str
    evidence: str = ""
    difficulty: str = ""
    gold: str
    gold_error: str = ""
    gold_result: Preview = Preview()
    gold_tables: tuple[str, ...] = ()
    gold_columns: tuple[str, ...] = ()
    outcome: str = "error"
    reason: str = ""
    sql: str = ""
    result: Preview = Preview()
    k: int = 1
    confidence: float = 0.0
    quorum: bool = False
    correct: bool = False
    bird_ex: bool = False
    soft_f1: float = 0.0
    r_ves: float | None = None
    candidates: tuple[CandidateRecord, ...] = ()
    repairs: tuple[RepairRecord, ...] = ()
    retrieved_tables: tuple[str, ...] = ()
    retrieved_columns: tuple[str, ...] = ()
    stages_ms: dict[str, float] = {}
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    trace: dict[str, Any] = {}

    @property
    def counts(self) -> bool:
        """True when the gold gave a result to compare with."""
        return not self.gold_error
