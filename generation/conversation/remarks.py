"""Recognises what is no question about data: greetings, "what can I ask?", poems, and commands.

Of greetings, thanks and the like only whole, unambiguous forms, in the nine languages of
``remarks.yaml``.

A command to change data gets a better answer here; protection is the task of the guard, which
allows only queries. Therefore only forms that no question has are recognised (an SQL statement, or
an imperative at the start of a sentence), and doubtful ones pass ("updates by month", "drop in
sales").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from nl2sql.languages import Language
from nl2sql.words import drop_accents, fold_text
from nl2sql.yaml_file import read_packaged

Kind = Literal["greeting", "thanks", "farewell", "help"]

_KINDS: tuple[Kind, ...] = ("greeting", "thanks", "farewell", "help")
_MOST_CHARS = 100
_WRITING = re.compile(
    r"(?:please |can you |could you )*(?:write|compose|sing|tell|make up)(?: me| us)? "
    r"(?:an? |some )(?:\w+ )?(?:song|essay|story|joke|poem|haiku|limerick)s?\b.*",
    re.IGNORECASE,
)
_POLITE = (
    r"(?:(?:please|now|then|and|also|kindly|just|hey|hi|hello|can|could|will|you|i|want|need|"
    r"would|like|to|let|us|let's)[\s,]+)*"
)
_ALL = r"(?:all|every|each|any|the|this|that|these|those|my|our|his|her|their|its|it|them)\b"
_THING = (
    r"(?:table|database|schema|view|index|column|row|record|entry|entries|rows|records|tables|"
    r"user|role|trigger|function|constraint|sequence)\b"
)
_ORDERS = (
    rf"(?:drop|truncate|alter)\s+(?:{_ALL}\s+)?(?:\w+\s+)?{_THING}",
    r"(?:drop|truncate)\s+(?:all|every|everything)\b",
    r"truncate\s+\w+\s*$",
    rf"(?:delete|erase|remove|wipe|purge)\s+(?:out\s+)?(?:{_ALL}|everything\b|from\b|{_THING})",
    r"(?:delete|erase|remove|wipe|purge)\s+(?:an?\s+)?\w+\s+(?:with|where|number|#|\d)",
    r"insert\s+(?:into\b|an?\b|the\b|this\b|new\b|\d)",
    r"update\s+[\w.\"`]+\s+set\b",
    rf"(?:update|change|set|modify|overwrite|replace|rename)\s+{_ALL}.*?\b(?:to|set|with|as|=)\s",
    rf"(?:increase|decrease|raise|reduce|lower|double|halve)\s+{_ALL}.*?\bby\s+\d",
    rf"add\s+an?\s+(?:new\s+)?{_THING}",
    r"add\s+(?:an?\s+)?new\s+\w+",
    r"create\s+(?:or\s+replace\s+)?(?:an?\s+)?(?:new\s+|temp\w*\s+|unique\s+)?"
    r"(?:table|database|schema|view|index|user|role|trigger|function|sequence)\b",
    r"grant\s+[\w\s,]+\b(?:to|on)\b",
    r"revoke\s+[\w\s,]+\b(?:from|on)\b",
)
# A command may also follow another sentence or a SELECT.
_COMMAND = re.compile(
    rf"(?:^|[;.!?\n]\s*|\band\s+then\s+){_POLITE}(?:{'|'.join(_ORDERS)})", re.IGNORECASE
)


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
    if not plain:
        # Only signs, such as "?".
        return Remark("help", "en")
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


def asks_to_write(text: str) -> bool:
    """Whether the whole text asks for a poem or the like, whatever about.

    >>> [asks_to_write(text) for text in ("Write me a poem about invoices", "List the songs by X")]
    [True, False]
    """
    return _WRITING.fullmatch(text.strip()) is not None


def asks_to_change(text: str) -> bool:
    """Whether a sentence of the text is a command to change data.

    >>> [asks_to_change(text) for text in ("DROP TABLE orders;", "Please delete all orders.")]
    [True, True]
    >>> [asks_to_change(text) for text in ("Updates by month", "Which orders were deleted?")]
    [False, False]
    """
    return _COMMAND.search(text.strip()) is not None


@cache
def _load() -> dict[Language, Any]:
    return cast("dict[Language, Any]", read_packaged(__package__, "remarks.yaml"))


@cache
def _load_forms() -> tuple[tuple[Remark, re.Pattern[str]], ...]:
    return tuple(
        (Remark(kind, language), re.compile(drop_accents(forms[kind])))
        for language, forms in _load().items()
        for kind in _KINDS
    )
