"""What passes between the generator and the engine, and the candidates that come of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message. ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Chat messages for one purpose (``generate``, ``draft`` or ``repair``)."""

    purpose: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """One request to the engine: ``k`` completions of one prompt.

    ``answer_start`` is put before the model's own words, which end at any of ``stop``. ``grammar``
    (EBNF; empty: none) admits nothing else, where the engine can hold a model to one.

    ``time_limit_s``, from when the engine gets the request: then it ends with those completions
    that are finished, or goes on to the first; an engine that cannot, gives all. None: no end.
    """

    prompt: Prompt
    k: int
    seed: int
    temperature: float
    max_tokens: int
    answer_start: str = ""
    stop: tuple[str, ...] = ()
    grammar: str = ""
    time_limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class Completions:
    """The engine's answer: ``k`` texts, or fewer after a time limit; what they cost in tokens.

    ``logprobs`` holds the mean log-probability of a token, a text; empty where the engine tells
    none.
    """

    texts: tuple[str, ...]
    prompt_tokens: int
    completion_tokens: int
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query. ``samples`` is how many completions had this normal form.

    ``origin`` is ``sample`` or ``repair``; a repair names the candidate it ``repairs``. ``variant``
    names the prompt that it was first sampled from, ``logprob`` is the mean log-probability of a
    token in its likeliest sample (None: not told).
    """

    id: str
    sql: str
    samples: int = 1
    origin: str = "sample"
    repairs: str = ""
    variant: str = ""
    logprob: float | None = None


@dataclass(frozen=True, slots=True)
class DraftQuery:
    """A first draft of the query, empty where none came, and what it cost in tokens."""

    sql: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Generated:
    """What one round of sampling made of a question; the next one is handed it.

    ``samples`` completions were drawn in it of ``wanted``: fewer where the deadline ended it.
    ``more`` says whether another round may follow.
    ``prompts`` pairs the variants drawn from, in this round or before it, with their prompts, of
    which ``prompt`` is the first. ``left_out`` names the tables (``schema.table``) and columns
    (``schema.table.column``) that did not fit into that one. ``grammar`` held the model, where it
    is not empty. Rounds count from 0.
    """

    prompt: Prompt
    candidates: tuple[Candidate, ...]
    prompt_tokens: int
    completion_tokens: int
    left_out: tuple[str, ...] = ()
    samples: int = 0
    wanted: int = 0
    more: bool = False
    prompts: tuple[tuple[str, Prompt], ...] = ()
    grammar: str = ""
    round_number: int = 0
