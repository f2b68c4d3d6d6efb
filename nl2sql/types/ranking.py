"""What is known of each candidate, their ranking, and the repairs."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.types.execution import Diagnostic, Explained, GuardedQuery, ResultSet, Violation
from nl2sql.types.generation import Candidate


@dataclass(frozen=True, slots=True)
class Finding:
    """What one lint rule found. ``severity`` is ``error`` or ``warning``."""

    rule: str
    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class ScoreTerm:
    """One named addend of a score."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Score:
    """A sum that keeps its terms, so that a ranking explains itself.

    >>> Score((ScoreTerm("base", 100.0), ScoreTerm("explain_fails", -50.0))).total
    50.0
    """

    terms: tuple[ScoreTerm, ...] = ()

    @property
    def total(self) -> float:
        """The sum of all terms."""
        return sum(term.value for term in self.terms)


@dataclass(frozen=True, slots=True)
class Assessment:
    """All that is known of one candidate: guard verdict, EXPLAIN, result, score and vote.

    ``diagnostic`` is the first database error it met, at EXPLAIN or execution. ``group`` numbers
    the candidates with equivalent results (-1: no result); ``votes`` counts the samples in it.
    ``weight`` is what they weigh together. ``unrun`` says why a query has no result though nothing
    is wrong with it: ``estimate``, its plan expects too much; ``timeout``, it takes longer than the
    vote waits; ``budget``, the time for the vote was spent before. Its group is one of equal plans.
    """

    candidate: Candidate
    verdict: GuardedQuery | Violation
    explained: Explained | None = None
    diagnostic: Diagnostic | None = None
    findings: tuple[Finding, ...] = ()
    result: ResultSet | None = None
    score: Score = Score()
    group: int = -1
    votes: int = 0
    weight: float = 0.0
    unrun: str = ""

    @property
    def failed(self) -> bool:
        """True when the candidate cannot win: refused, or in error."""
        return isinstance(self.verdict, Violation) or self.diagnostic is not None


@dataclass(frozen=True, slots=True)
class Interpretation:
    """One way to understand the question: its query, and what that asks for, in words.

    ``share`` is the part of all samples whose result is this one's.
    """

    sql: str
    description: str
    share: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates best first. ``quorum`` is true when more than half of at least two samples agree.

    ``confidence`` is how likely the winner is right, as calibrated on a benchmark; without a
    calibration the lower end of the 95 % Wilson interval on the share that agrees. ``settled`` says
    that no further sample is worth its time; ``features`` are what the confidence was read from. A
    winner whose confidence is below ``threshold`` is no answer: ``interpretations`` are offered
    instead, one or two, best first.
    """

    assessments: tuple[Assessment, ...] = ()
    samples: int = 0
    confidence: float = 0.0
    quorum: bool = False
    settled: bool = False
    features: tuple[tuple[str, float], ...] = ()
    threshold: float = 0.0
    interpretations: tuple[Interpretation, ...] = ()

    @property
    def winner(self) -> Assessment | None:
        """The first candidate with a result, or None."""
        return next(
            (assessment for assessment in self.assessments if assessment.result is not None), None
        )


@dataclass(frozen=True, slots=True)
class Repair:
    """One attempt to repair a failed candidate; ``outcome`` is ``fixed``, ``failed`` or ``none``.

    ``none`` means that no new query came of it. ``method`` is ``normalize``, ``autocorrect``,
    ``whitelist`` or ``model``; ``rules`` names the rules that changed something; ``error_class`` is
    the class of the error in the taxonomy, ``suggestion`` its advice; ``attempt`` counts from 1.
    ``risks`` tells where one kind of thing took the place of another, such as a name for a number:
    such a repair takes over no samples.
    """

    candidate: str
    cause: str
    method: str
    outcome: str
    sql: str = ""
    rules: tuple[str, ...] = ()
    error_class: str = ""
    attempt: int = 1
    suggestion: str = ""
    risks: tuple[str, ...] = ()
