"""Who asks, and what."""

from __future__ import annotations

from dataclasses import dataclass

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

    ``k`` candidates are sampled with ``seed``, or as many as it takes where ``k`` is 0; at most
    ``max_rows`` rows come back. ``evidence`` is what the asker knows besides, shown
    to the model beside the question. ``session`` names the conversation it belongs to (empty:
    none). ``picked`` is the query of the interpretation that the asker chose: it is run, and none
    is sampled.
    ``answer_text`` says who may put the answer in words: ``rule``, ``model``, or nobody (``off`` or
    empty).
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

    @property
    def search_text(self) -> str:
        """All that was said: what retrieval and linking look for."""
        return f"{self.text} {self.evidence}".strip()
