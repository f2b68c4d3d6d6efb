"""A question, and the principal who asks it."""

from __future__ import annotations

from dataclasses import dataclass, field

from nl2sql.languages.phrases import say_in_english
from nl2sql.types.access import UNRESTRICTED, Access
from nl2sql.types.conversation import Turn

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
    access: Access = field(default=UNRESTRICTED, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """A question in plain language about one database, and how to answer it.

    ``k`` candidates are sampled with ``seed``, or as many as needed if ``k`` is 0; at most
    ``max_rows`` rows are returned. ``evidence`` is additional knowledge, shown to the model with
    the question; ``tables`` are the names of those that the query must read, as the caller writes
    them. ``session`` is the id of the conversation (empty: none). ``picked`` is the query
    of the interpretation that the principal chose: it is run, and nothing is sampled.
    ``answer_text`` says what puts the answer into words: ``rule``, ``model``, or nothing (``off``
    or empty).
    """

    text: str
    database: str
    principal: Principal
    k: int
    seed: int
    max_rows: int
    evidence: str = ""
    session: str = ""
    picked: str = ""
    answer_text: str = ""
    history: tuple[Turn, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def english(self) -> str:
        """The text for rules that read English: the question, or what it is in English."""
        return say_in_english(self.text) or self.text

    @property
    def length(self) -> int:
        """The number of words; in English where the question's own are written without spaces."""
        return max(len(self.text.split()), len(self.english.split()))

    @property
    def search_text(self) -> str:
        """The text for retrieval and linking: the question, the evidence, and English words.

        The English words are those of a question in another language.
        """
        parts = (self.text, self.evidence, say_in_english(self.text))
        return " ".join(part for part in parts if part)
