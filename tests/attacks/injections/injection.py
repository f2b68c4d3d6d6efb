"""One injection: a text, where it stands, and what a model writes that obeys it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Place = Literal[
    "question",
    "evidence",
    "cell",
    "comment",
    "name",
    "example",
    "feedback",
    "synonym",
    "turn",
    "error",
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
    prompt, so that the model obeys without having read it.
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

    @property
    def id(self) -> str:
        """What pytest calls it."""
        return f"{self.place}-{self.title.replace(' ', '_')}"

    @property
    def question(self) -> str:
        """What the principal asks."""
        return self.text if self.place == "question" else self.asked

    @property
    def example(self) -> str:
        """The question of an example: the text, unless it stands in the example's query."""
        if self.text not in self.target:
            return self.text
        return f"How many employees are there, with {self.title}?"
