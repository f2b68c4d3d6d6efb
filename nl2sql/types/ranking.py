"""Assessments of candidates, their ranking, the repairs, and the progress."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.types.execution import Diagnostic, Explained, GuardedQuery, ResultSet, Violation
from nl2sql.types.generation import Candidate


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that a lint rule found. ``severity`` is ``error`` or ``warning``."""

    rule: str
    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class ScoreTerm:
    """One named addend of a score: the ``strength`` of a measure times its points."""

    name: str
    value: float
    strength: float = 1.0


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
class Display:
    """How a query shows its result, as far as the schema tells.

    ``shown`` names what the outputs show of the rows, "" for a figure; columns that keys connect
    have one name, and so have the figures by which a query takes the first rows. It has another
    length than the result where a table is unknown. ``digits`` are the decimals to which an output
    is rounded. ``periods`` are the positions of years and months of one date, each with what it
    says ("y", "m" or "ym").
    """

    shown: tuple[str, ...] = ()
    digits: int | None = None
    periods: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Assessment:
    """Everything known about one candidate: guard verdict, EXPLAIN, result, score and vote.

    ``diagnostic`` is the first database error, at EXPLAIN or execution. ``group`` is the number of
    the group with results of one reading (-1: no result); ``votes`` counts its samples and
    ``weight`` is their total weight. ``form`` numbers the groups with equivalent results: several
    forms are one reading if they differ only in how it is shown. ``unrun`` says why a valid query
    has no result: ``estimate``, its estimated rows are too many; ``timeout``, it exceeded the
    vote's time limit; ``busy``, it got no turn at the database; ``budget``, the vote's time was
    used up before. Each such query is a group of its own. ``definitions`` names the definitions
    of the question that the query uses.
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
    definitions: tuple[str, ...] = ()
    display: Display = Display()
    form: int = -1

    @property
    def failed(self) -> bool:
        """True if the candidate cannot win: the guard refused it, or the database failed."""
        return isinstance(self.verdict, Violation) or self.diagnostic is not None


@dataclass(frozen=True, slots=True)
class Interpretation:
    """One interpretation of the question: its query, and a description of that in words.

    ``share`` is the share of all samples with this reading of the question. ``result`` has the
    first rows, which the vote has read; None: they are not known.
    """

    sql: str
    description: str
    share: float
    result: ResultSet | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates best first. ``quorum``: more than half of at least two samples agree.

    ``confidence`` is the calibrated probability that the winner is right; ``settled`` says that no
    further samples are needed; ``features`` are the inputs of the confidence. If the confidence is
    below ``threshold``, one or two ``interpretations`` are offered instead of an answer, best
    first. ``description`` says in words what the winner asks for; ``notes`` what to know of it.
    """

    assessments: tuple[Assessment, ...] = ()
    samples: int = 0
    confidence: float = 0.0
    quorum: bool = False
    settled: bool = False
    features: tuple[tuple[str, float], ...] = ()
    threshold: float = 0.0
    interpretations: tuple[Interpretation, ...] = ()
    description: str = ""
    notes: tuple[str, ...] = ()

    @property
    def winner(self) -> Assessment | None:
        """The first candidate with a result, or None."""
        return next(
            (assessment for assessment in self.assessments if assessment.result is not None), None
        )


@dataclass(frozen=True, slots=True)
class Repair:
    """One attempt to repair a failed candidate; ``outcome`` is ``fixed``, ``failed`` or ``none``.

    ``none`` means that no new query was found. ``method`` is ``normalize``, ``autocorrect`` or
    ``model``; ``rules`` names the rules that changed something; ``error_class`` is the class of the
    error; ``attempt`` counts from 1.
    """

    candidate: str
    cause: str
    method: str
    outcome: str
    sql: str = ""
    rules: tuple[str, ...] = ()
    error_class: str = ""
    attempt: int = 1


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
