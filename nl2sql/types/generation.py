"""Requests to the engine, its completions, and the candidates made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Contents = Literal["schema", "values", "rows"]
"""What a text may hold at most; each includes the ones before it.

``schema``: names, types, keys, comments and what the user wrote in this conversation; ``values``:
also cell values, examples, conditions of policies and the database's errors; ``rows``: also rows of
results.
"""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message. ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Chat messages for one purpose (``generate``, ``repair``, ``answer`` and others).

    ``contains`` is what they may hold, see ``nl2sql.prompts.contents``; a builder that does not
    know it leaves it at all.
    """

    purpose: str
    messages: tuple[Message, ...]
    contains: Contents = "rows"


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """One request to the engine: ``k`` completions of one prompt.

    ``answer_start`` is the given beginning of the answer, which ends at any of ``stop``.

    After ``time_limit_s`` seconds, the engine returns the finished completions, or waits for the
    first; engines that cannot do so return all. None: no limit.
    """

    prompt: Prompt
    k: int
    seed: int
    temperature: float
    max_tokens: int
    answer_start: str = ""
    stop: tuple[str, ...] = ()
    time_limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class Completions:
    r"""The engine's answer: ``k`` texts, or fewer after a time limit, and their token counts.

    Half of a surrogate pair, which neither a prompt nor a database takes, is replaced.

    >>> Completions(("a\ud83db",), 9, 1).texts
    ('a�b',)
    """

    texts: tuple[str, ...]
    prompt_tokens: int
    completion_tokens: int

    def __post_init__(self) -> None:
        encoded = (text.encode("utf-16-le", "surrogatepass") for text in self.texts)
        whole = tuple(text.decode("utf-16-le", "replace") for text in encoded)
        object.__setattr__(self, "texts", whole)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query. ``samples`` is how many completions had this normal form.

    ``origin`` is ``sample``, ``repair``, ``derived``, ``chosen``, ``verified`` or ``catalog`` (it
    answers a question about the database itself). ``repairs`` is the id of the candidate that a
    repair was made from, ``derived_from`` that of the candidate that a derived one was made from,
    by the ``rule`` of that name. ``variant`` names the prompt that it was first sampled from.
    """

    id: str
    sql: str
    samples: int = 1
    origin: str = "sample"
    repairs: str = ""
    derived_from: str = ""
    rule: str = ""
    variant: str = ""


@dataclass(frozen=True, slots=True)
class DraftQuery:
    """A first draft of the query, empty if the model wrote none, and its token counts."""

    sql: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Generated:
    """The result of one round of sampling; the next round receives it.

    ``samples`` of the ``wanted`` completions were drawn: fewer if the deadline ended the round.
    ``more`` says whether another round may follow. ``prompts`` pairs the variants used in this and
    earlier rounds with their prompts. ``left_out`` names the tables (``schema.table``) and columns
    (``schema.table.column``) that did not fit into the first.
    Rounds count from 0.
    """

    prompts: tuple[tuple[str, Prompt], ...]
    candidates: tuple[Candidate, ...]
    prompt_tokens: int
    completion_tokens: int
    left_out: tuple[str, ...] = ()
    samples: int = 0
    wanted: int = 0
    more: bool = False
    round_number: int = 0
