"""Recognises what is no question about data: greetings, thanks, "what can I ask?", and poems.

Only whole, unambiguous forms, in the nine languages of ``small_talk.yaml``. The gate refuses a
request for a poem, code or a translation only if it is far from all tables, so that a database
about poems can be asked for one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from nl2sql.languages import Language
from nl2sql.packaged import read_packaged
from nl2sql.words import drop_accents, fold_text

Kind = Literal["greeting", "thanks", "farewell", "help"]

_KINDS: tuple[Kind, ...] = ("greeting", "thanks", "farewell", "help")
_MOST_CHARS = 100
_WORKS = (
    r"joke|story|poem|haiku|limerick|song|essay|letter|e-?mail|regex|regular expression|"
    r"(?:\w+ )?(?:function|script|program|class)"
)
_FORMS = (
    rf"(?:please |can you |could you )*(?:tell|write|compose|sing|create|give)(?: me| us)?"
    rf" (?:an? |some )(?:\w+ )?(?:{_WORKS})\b.*",
    r"who (?:made|built|created) you",
    r"are you (?:an? )?(?:human|robot|bot|ai|machine|person|model)\b.*",
    r"translate .+ (?:in)?to \w+",
    r"play (?:some|a|the) \w+.*",
)
_SMALL_TALK = re.compile(rf"(?:{'|'.join(_FORMS)})[\s.!?]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that gets a reply instead of an answer."""

    kind: Kind
    language: Language


def read_remark(text: str) -> Remark | None:
    """The remark that the whole text is, or None.

    >>> read_remark("Guten Morgen!"), read_remark("What can you help me with?")
    (Remark(kind='greeting', language='de'), Remark(kind='help', language='en'))
    >>> read_remark("Hi, how many orders?")
    """
    if len(text) > _MOST_CHARS:
        return None
    plain = fold_text(text)
    return next((remark for remark, form in _load_forms() if form.fullmatch(plain)), None)


def reply(remark: Remark, subjects: str, questions: Sequence[str]) -> str:
    """What is said to the remark, in its language; ``questions`` are suggested."""
    said = _load()[remark.language]["said"]
    parts = [said[remark.kind]]
    if remark.kind in ("greeting", "help"):
        parts.append(said["about"].format(subjects=subjects))
        if questions:
            quoted = said["or"].join(f"“{question}”" for question in questions)
            parts.append(said["example"].format(questions=quoted))
    return " ".join(parts)


def is_small_talk(text: str) -> bool:
    """Whether the whole text asks for something that no data can answer.

    >>> [is_small_talk(text) for text in ("Write a haiku on autumn.", "Give me a list of poems.")]
    [True, False]
    """
    return _SMALL_TALK.fullmatch(text.strip()) is not None


@cache
def _load() -> dict[Language, Any]:
    return cast("dict[Language, Any]", read_packaged(__package__, "small_talk.yaml"))


@cache
def _load_forms() -> tuple[tuple[Remark, re.Pattern[str]], ...]:
    return tuple(
        (Remark(kind, language), re.compile(drop_accents(forms[kind])))
        for language, forms in _load().items()
        for kind in _KINDS
    )
