"""Recognises commands to change the database instead of questions about it.

This only gives a better answer; protection is the task of the guard, which allows only queries.
Therefore it recognises only forms that no question has (an SQL statement, or an imperative at the
start of a sentence), and lets doubtful ones pass ("updates by month", "drop in sales").
"""

from __future__ import annotations

import re

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


def asks_to_change(text: str) -> bool:
    """Whether a sentence of the text is a command to change data.

    >>> [asks_to_change(text) for text in ("DROP TABLE orders;", "Please delete all orders.")]
    [True, True]
    >>> [asks_to_change(text) for text in ("Updates by month", "Which orders were deleted?")]
    [False, False]
    """
    return _COMMAND.search(text.strip()) is not None
