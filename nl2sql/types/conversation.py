"""The gate's verdict, earlier turns of a session, and the answer in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intent:
    """The gate's verdict on a question; an empty ``code`` lets it pass.

    ``code`` is ``off_topic``, ``read_only`` or ``small_talk``; ``reason`` and the suggested
    questions are for people and name nothing that the principal may not see. ``method`` says what
    decided: ``rule``, ``score``, ``doubt`` (let pass) or ``model``.
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

    ``method`` is ``model``; ``picked`` if the follow-up chose an interpretation, whose query is
    ``picked``; ``kept`` if the model gave nothing usable; empty if the model was not asked.
    """

    text: str = ""
    method: str = ""
    picked: str = ""
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
