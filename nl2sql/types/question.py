"""A question, the principal who asks it and what it may use, the conversation, and feedback."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field

from nl2sql.languages.phrases import say_in_english
from quorumsql.contract.model import CandidateCount


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """The most that a principal may use; 0: no limit, None: the default of the settings."""

    requests_per_minute: int | None = None
    questions_at_once: int | None = None
    tokens_per_day: int | None = None
    rows_per_day: int | None = None

    def complete(self, defaults: UsageLimits) -> UsageLimits:
        """These limits, with those of ``defaults`` where they are None.

        >>> UsageLimits(tokens_per_day=0).complete(UsageLimits(5, 6, 7)).tokens_per_day
        0
        >>> UsageLimits(tokens_per_day=0).complete(UsageLimits(5, 6, 7)).requests_per_minute
        5
        """
        pairs = zip(astuple(self), astuple(defaults), strict=True)
        return UsageLimits(*(default if own is None else own for own, default in pairs))


@dataclass(frozen=True, slots=True)
class Entitlement:
    """How a principal was identified, and what it may use.

    ``key`` is the id of its API key (empty: it has none). ``databases`` are those that it may ask
    (empty: all).
    """

    key: str = ""
    databases: tuple[str, ...] = ()
    limits: UsageLimits = UsageLimits()


@dataclass(frozen=True, slots=True)
class Intent:
    """The gate's verdict on a question; an empty ``code`` lets it pass.

    ``code`` is ``off_topic``, ``read_only`` or ``small_talk``; ``reason`` and the suggested
    questions are for people and name nothing that the principal may not see. ``method`` says what
    decided: ``rule``, ``score`` or ``doubt`` (let pass).
    """

    code: str = ""
    reason: str = ""
    suggestions: tuple[str, ...] = ()
    method: str = ""


PASSED = Intent()


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of a session, after rewriting, and its outcome.

    ``outcome`` is the kind of answer in lower case, ``sql`` the query of an answered question,
    ``interpretations`` the queries offered by a clarify answer. It never holds cells of a result.
    """

    question: str
    outcome: str
    sql: str = ""
    interpretations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A follow-up as a complete question; ``text`` is empty if the question is unchanged.

    ``method`` is ``model``; ``chosen`` if the follow-up chose an interpretation, whose query is
    ``chosen_sql``; ``kept`` if the model gave nothing usable; empty if the model was not asked.
    """

    text: str = ""
    method: str = ""
    chosen_sql: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


AS_ASKED = Rewriting()


@dataclass(frozen=True, slots=True)
class AnswerText:
    """An answer in words. ``source`` is ``rule`` or ``model``, empty if there is no text."""

    text: str = ""
    source: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


# A tuple is a list of values, for an attribute such as ``region_ids``.
Scalar = str | int | float | bool
AttributeValue = Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. ``roles`` are those of policy files, ``attributes`` are bound in row filters.

    ``access`` is not part of the identity: with another API key it is the same principal.
    """

    name: str
    roles: tuple[str, ...] = ()
    attributes: tuple[tuple[str, AttributeValue], ...] = ()
    access: Entitlement = field(default=Entitlement(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TrialFix:
    """What a reviewer tries before it is kept: an example, a definition, or nothing.

    ``sql`` is the right query for the ``question``; ``expression`` is what ``name`` means: a
    condition, or a figure with an aggregate.
    """

    question: str = ""
    sql: str = ""
    name: str = ""
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in plain language about one database, and how to answer it.

    ``k`` candidates are sampled with ``seed``, or as many as needed if it is ``adaptive``; at most
    ``max_rows`` rows are returned. ``evidence`` is additional knowledge, shown to the model with
    the question. ``session`` is the id of the conversation (empty: none). ``chosen_sql`` is the
    query of the interpretation that the principal chose: it is run, and nothing is sampled.
    ``answer_text`` says what puts the answer into words: ``rule``, ``model``, or nothing (``off``
    or empty). With a ``trial`` it is asked as in an exam, and as if the fix were kept: no verified
    query answers it, and its own example is not shown. It ``continues`` another that could not be
    completed: a verified query of the same words may mean something else.
    """

    text: str
    database: str
    principal: Principal
    k: CandidateCount
    seed: int
    max_rows: int
    evidence: str = ""
    session: str = ""
    chosen_sql: str = ""
    answer_text: str = ""
    history: tuple[Turn, ...] = ()
    trial: TrialFix | None = None
    continues: bool = False

    @property
    def english(self) -> str:
        """The text for rules that read English: the question, or what it is in English."""
        return say_in_english(self.text) or self.text

    @property
    def search_text(self) -> str:
        """The text for retrieval and linking: the question, the evidence, and English words.

        The English words are those of a question in another language.
        """
        parts = (self.text, self.evidence, say_in_english(self.text))
        return " ".join(part for part in parts if part)
