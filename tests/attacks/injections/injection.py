"""Injections: a text, where it stands, and what a model writes that obeys it; and such a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nl2sql.types import Completions, SamplingRequest
from tests.attacks.attack import read_fixture
from tests.fakes import count_fake_tokens

Place = Literal[
    "question",
    "evidence",
    "error",
    "turn",
    "cell",
    "comment",
    "name",
    "example",
    "feedback",
    "synonym",
    "answer",
]

EMPLOYEES = "How many employees are there?"


@dataclass(frozen=True, slots=True)
class Injection:
    """``text`` is the attacker's, ``sql`` what the model makes of it.

    ``asked`` is the question that brings the text into the prompt; for the place ``question`` it
    is the text itself. ``target`` says where a stored text is planted: the column or table that
    holds it; for an example, feedback or an earlier turn, the query that it comes with. ``first``
    is a query that the model writes before the text reaches it. ``said`` is what it says where an
    answer is to be put in words. ``shown`` is False where the product keeps the text from the
    prompt, so that the model obeys without having read it. ``database`` is asked about, the
    default one if it is empty.
    """

    title: str
    place: Place
    text: str
    sql: str
    principal: str = "mia"
    asked: str = EMPLOYEES
    target: str = ""
    first: str = ""
    said: str = ""
    shown: bool = True
    database: str = ""

    @property
    def id(self) -> str:
        """What pytest calls it."""
        return f"{self.place}-{self.title.replace(' ', '_')}"

    @property
    def question(self) -> str:
        """What the principal asks."""
        return self.text if self.place == "question" else self.asked

    @property
    def evidence(self) -> str:
        """The evidence that comes with the question."""
        return self.text if self.place == "evidence" else ""

    @property
    def example(self) -> str:
        """The question of an example: the text, unless it stands in the example's query."""
        if self.text not in self.target:
            return self.text
        return f"How many employees are there, with {self.title}?"


def _read_injections() -> tuple[Injection, ...]:
    injections: dict[Any, list[dict[str, Any]]] = dict(read_fixture("injections"))
    return tuple(
        Injection(place=place, **fields)
        for place, described in injections.items()
        for fields in described
    )


_ALL = _read_injections()
SAID = tuple(injection for injection in _ALL if injection.place == "answer")
"""Cells that tell the model what to say of them. Everybody may see these."""
INJECTIONS = tuple(injection for injection in _ALL if injection.place != "answer")
"""All others."""
STORED = tuple(
    injection
    for injection in INJECTIONS
    if injection.place not in ("question", "evidence", "error", "turn")
)
"""Those that wait in the database, in examples, in feedback and in the synonym file."""


class ObeyingEngine:
    """A language model that does what an attacker tells it, whatever it is asked for.

    Writes the query of the injection at hand; ``requests`` is what it was asked for it.
    """

    def __init__(self) -> None:
        self.requests: list[SamplingRequest] = []
        self._injection: Injection | None = None

    def obey(self, injection: Injection) -> None:
        """From now on to this one; forgets what it was asked before."""
        self._injection = injection
        self.requests = []

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` times the same query, for a draft and a follow-up too."""
        assert self._injection is not None
        self.requests.append(request)
        text = self._injection.sql
        if request.prompt.purpose == "answer" and self._injection.said:
            text = self._injection.said
        elif request.prompt.purpose != "repair":
            text = self._injection.first or text
        return Completions((text,) * request.k, prompt_tokens=100, completion_tokens=10)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """As every fake model counts."""
        return count_fake_tokens(texts)
