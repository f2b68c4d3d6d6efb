"""What surrounds the query: the gate's verdict, earlier turns, the answer in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intent:
    """What the gate makes of a question: with an empty ``code`` it goes on.

    ``code`` is ``off_topic`` or ``read_only``; ``reason`` and ``suggestions``, which are questions
    that can be asked, are for people and name nothing that the principal may not see. ``method``
    says who decided: ``rule``, ``score``, ``doubt`` (let pass) or ``model``.
    """

    code: str = ""
    reason: str = ""
    suggestions: tuple[str, ...] = ()
    method: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


PASSED = Intent()


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of a session, as it was understood, and what came of it.

    ``outcome`` is the kind of answer in lower case, ``sql`` the query of an answered one,
    ``interpretations`` the queries of one that was asked back. Never a cell of a result.
    """

    question: str
    outcome: str
    sql: str = ""
    interpretations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A follow-up as a whole question; ``text`` is empty where the question stands as it is.

    ``method`` is ``model``, or ``picked`` where it chose a reading, whose query is ``picked``; it
    is ``kept`` where the model was asked in vain, and empty where nobody was.
    """

    text: str = ""
    method: str = ""
    picked: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


AS_ASKED = Rewriting()


@dataclass(frozen=True, slots=True)
class AnswerText:
    """An answer in words. ``source`` is ``rule`` or ``model``; empty where nothing is said."""

    text: str = ""
    source: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
