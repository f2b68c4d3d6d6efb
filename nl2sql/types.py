"""The values that travel through the pipeline: frozen, slotted, tuples inside.

They hold no behaviour beyond reading themselves, cross process boundaries by pickle, and carry the
field's standard names. What crosses HTTP is pydantic and lives in ``serve_app``.
"""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.catalog import ForeignKey, Table

# -- the question ------------------------------------------------------------------------------


# A tuple is a list of values, for an attribute such as ``region_ids``.
Scalar = str | int | float | bool
AttributeValue = Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. ``roles`` name roles of the policy files, ``attributes`` what their rows bind."""

    name: str
    roles: tuple[str, ...] = ()
    attributes: tuple[tuple[str, AttributeValue], ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question in plain language about one database, and how to answer it.

    ``k`` candidates are sampled with ``seed``; at most ``max_rows`` rows come back. ``evidence`` is
    what the asker knows besides, shown to the model beside the question.
    """

    text: str
    database: str
    principal: Principal
    k: int
    seed: int
    max_rows: int
    evidence: str = ""

    @property
    def search_text(self) -> str:
        """All that was said: what retrieval and linking look for."""
        return f"{self.text} {self.evidence}".strip()


# -- retrieval and planning --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModuleRoute:
    """One to three modules, best first, with a confidence from 0 to 1 for each."""

    modules: tuple[str, ...]
    method: str
    confidences: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RetrievedTable:
    """A table that may be needed. Ranks count from 1; None where that ranking did not list it.

    ``via`` is ``hit`` or ``foreign_key``; ``score`` is the reciprocal-rank-fusion score.
    """

    table: Table
    score: float
    cosine_rank: int | None = None
    bm25_rank: int | None = None
    cosine: float | None = None
    via: str = "hit"


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """The part of the schema that the model sees, and the keys between its tables.

    ``names`` gives, table by table, the shortest SQL name that the database resolves. ``refusal``
    says why the principal may see nothing of the database at all.
    """

    tables: tuple[RetrievedTable, ...]
    foreign_keys: tuple[ForeignKey, ...]
    names: tuple[str, ...]
    version: str = ""
    dialect: str = "postgres"
    refusal: str = ""

    @property
    def best_cosine(self) -> float:
        """The highest cosine similarity of any table to the question; -1 when there is none."""
        return max((hit.cosine for hit in self.tables if hit.cosine is not None), default=-1.0)

    @property
    def has_keyword_hit(self) -> bool:
        """True when some word of the question stands in some table's card."""
        return any(hit.bm25_rank is not None for hit in self.tables)


@dataclass(frozen=True, slots=True)
class SchemaLink:
    """A phrase of the question that names a table, or a column when ``column`` is not empty."""

    phrase: str
    table: str
    column: str
    score: float


@dataclass(frozen=True, slots=True)
class SchemaLinks:
    """All links found, best first."""

    links: tuple[SchemaLink, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """Tables to join (qualified names), the keys that join them, and the skeleton as SQL."""

    tables: tuple[str, ...] = ()
    keys: tuple[ForeignKey, ...] = ()
    skeleton: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the planner stage found: links and joins."""

    links: SchemaLinks = SchemaLinks()
    joins: JoinPlan = JoinPlan()


# -- generation --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message. ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Chat messages for one purpose (``generate`` or ``repair``)."""

    purpose: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """One request to the engine: ``k`` completions of one prompt.

    ``answer_start`` is put before the model's own words, which end at any of ``stop``.
    """

    prompt: Prompt
    k: int
    seed: int
    temperature: float
    max_tokens: int
    answer_start: str = ""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completions:
    """The engine's answer: ``k`` texts, and what they cost in tokens."""

    texts: tuple[str, ...]
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query. ``samples`` is how many completions had this normal form.

    ``origin`` is ``sample`` or ``repair``; a repair names the candidate it ``repairs``.
    """

    id: str
    sql: str
    samples: int = 1
    origin: str = "sample"
    repairs: str = ""


@dataclass(frozen=True, slots=True)
class Generated:
    """What the generator made of a question."""

    prompt: Prompt
    candidates: tuple[Candidate, ...]
    prompt_tokens: int
    completion_tokens: int


# -- the guard and the database ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """Under which role of the database a query runs, and the settings that its policies read."""

    role: str
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GuardedQuery:
    """A query that passed the guard: the only thing the executor accepts.

    ``sql`` is the guard's own rendering, ``tables`` the physical tables it reads (qualified),
    ``predicates`` the row-policy predicates that were injected, as ``table: predicate``, ``params``
    their bound values, for the placeholders ``$1`` … (SQLite: ``?1`` …). ``restricted`` says that
    something is withheld from who asks, so that no error may carry a value. ``session`` is the
    second wall, where the database has one.
    """

    database: str
    sql: str
    tables: tuple[str, ...]
    columns: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    params: tuple[object, ...] = ()
    dialect: str = "postgres"
    restricted: bool = False
    session: SessionIdentity | None = None


# The code of a violation, and of a refused answer: it is there, but not for this principal.
NOT_PERMITTED = "not_permitted"


@dataclass(frozen=True, slots=True)
class Violation:
    """Why the guard refused. ``code`` is stable, ``fragment`` the offending text."""

    code: str
    fragment: str
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """The one form in which a database's error travels. Branch on ``sqlstate`` only.

    ``position`` counts characters from 1; 0 when the server named none.
    """

    sqlstate: str
    message: str
    position: int = 0
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Explained:
    """The root of an EXPLAIN: the planner's total cost (its own unit) and estimated rows."""

    cost: float
    rows: float


@dataclass(frozen=True, slots=True)
class ResultSet:
    """A page of rows. ``truncated`` says that there were more than a limit let through.

    ``cut`` lists the cells (row, column, from 0) that were longer than a cell may be: text and
    bytes end early, anything else is withheld and stands as None.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool
    ms: float
    cut: tuple[tuple[int, int], ...] = ()


# -- ranking -----------------------------------------------------------------------------------


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

    @property
    def failed(self) -> bool:
        """True when the candidate cannot win: refused, or in error."""
        return isinstance(self.verdict, Violation) or self.diagnostic is not None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates best first. ``quorum`` is true when more than half of at least two samples agree.

    ``confidence`` is the lower end of the 95 % Wilson interval on that share: an honest reading of
    few samples, not yet calibrated against accuracy.
    """

    assessments: tuple[Assessment, ...] = ()
    samples: int = 0
    confidence: float = 0.0
    quorum: bool = False

    @property
    def winner(self) -> Assessment | None:
        """The first candidate with a result, or None."""
        return next((each for each in self.assessments if each.result is not None), None)


@dataclass(frozen=True, slots=True)
class Repair:
    """One attempt to repair a failed candidate; ``outcome`` is ``fixed``, ``failed`` or ``none``.

    ``none`` means that no new query came of it.
    """

    candidate: str
    cause: str
    method: str
    outcome: str
    sql: str = ""
