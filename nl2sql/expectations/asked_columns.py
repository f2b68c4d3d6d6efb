"""Reads the columns that a question asks for, from the list of nouns with which it begins."""

from __future__ import annotations

import re
from functools import lru_cache

from nl2sql.words import STOP_WORDS, split_words

_LEAD = re.compile(
    r"^(?:please\s+)?(?:can you\s+)?(?:what(?:'s| is| are| was| were)|show(?: me)?|list(?: out)?|"
    r"give(?: me)?|find(?: out)?|return|tell me|display|report|get|state|select)\s+"
    r"(?:all\s+)?(?:of\s+)?(?:the\s+)?(?P<rest>.+)$",
    re.IGNORECASE,
)
_WHICH = re.compile(r"^(?:in\s+)?(?:which|what)\s+(?P<rest>.+)$", re.IGNORECASE)
_HOW_MANY = re.compile(r"^(?:how many|count)\b", re.IGNORECASE)
_COUNT_OF = re.compile(r"\b(number|count|amount|date|type|kind|sum)s?\s+of\s+", re.IGNORECASE)
_STOP = re.compile(
    r"\s(?:of|for|from|that|who|whose|which|where|with|in|on|at|by|to|when|having|sorted|ordered|"
    r"order|sort|if|does|do|did|is|are|was|were|has|have|had|can|located|living|owned|used|"
    r"played|held|among|across|between|whom|there|as|along|corresponding|grouped|not|after|before|"
    r"under|over|than|per|each|every|based|through|belonging|made|produced|starting|ending|"
    r"associated|including|because|since|during|within|without|using)\b|[?.;:(]",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:information|info|details?|data|everything|lists?|records?|rows?|attributes|balances)\b",
    re.IGNORECASE,
)
_TWO_IN_ONE = re.compile(r"\b(?:full|complete) names?\b|\baddress(?:es)?\b", re.IGNORECASE)
_AND = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*", re.IGNORECASE)
# Words after the list that may add a column, in this sentence or the next.
_MORE = re.compile(
    r",|\b(?:and|as well as|along with|together with|also"
    r"|with (?:the|their|its))\b|\bwith (?:number|count)"
    r"|[.?;]\s*(?:and\s+)?(?:also\s+)?(?:please\s+)?"
    r"(?:list|show|give|return|what|tell|find|include)\b",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\b(?:each|every|per|different|grouped)\b", re.IGNORECASE)


def count_columns(question: str) -> tuple[int, ...]:
    """The numbers of columns that fit the question; empty if it does not say.

    A figure "for each" of something may come with or without that thing.

    >>> count_columns("What are the names and ages of all singers?")
    (2,)
    >>> count_columns("Show the name, country and age for all singers.")
    (3,)
    >>> count_columns("What is the average age for each country?")
    (1, 2)
    >>> count_columns("Who sang best?")
    ()
    """
    text = " ".join(question.split())
    if _HOW_MANY.match(text):
        return () if _GROUPED.search(text) or _MORE.search(text) else (1,)
    listed, after = _split_list(text)
    if _MORE.search(after) or _VAGUE.search(listed) or not listed.strip():
        return ()
    count = len([item for item in _AND.split(listed) if item.strip()])
    if _GROUPED.search(text) or _TWO_IN_ONE.search(listed):
        return (count, count + 1)
    return (count,)


@lru_cache(maxsize=256)
def list_outputs(question: str) -> tuple[tuple[str, ...], ...]:
    """The words of each thing in the list; empty if the question has none, or a vague one.

    >>> list_outputs("What are the names and home cities of all singers?")
    (('name',), ('home', 'city'))
    >>> list_outputs("Show all details of singers."), list_outputs("How many singers are there?")
    ((), ())
    """
    text = " ".join(question.split())
    listed, _ = _split_list(text)
    if _HOW_MANY.match(text) or _VAGUE.search(listed):
        return ()
    items = (split_words(item.replace("_", " ")) for item in _AND.split(listed))
    words = (tuple(word for word in item if word not in STOP_WORDS) for item in items)
    return tuple(item for item in words if item)


def _split_list(text: str) -> tuple[str, str]:
    """The list of nouns with which the question begins, and what comes after it."""
    match = _LEAD.match(text) or _WHICH.match(text)
    if match is None:
        return "", ""
    rest = _COUNT_OF.sub(lambda found: f"{found.group(1)}_of_", match.group("rest"))
    stop = _STOP.search(rest)
    return (rest[: stop.start()], rest[stop.start() :]) if stop else (rest, "")
