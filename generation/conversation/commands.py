"""Whether somebody asks to change the database instead of asking what is in it.

For politeness only: whatever passes here meets the guard, which lets nothing but a query through.
So it goes by the shapes that a question never has, an SQL statement or an order at the start of a
sentence, and leaves doubtful ones ("updates by month", "drop in sales") alone.
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
# A SELECT, a question mark or a comma before it does not make an order less of one.
_COMMAND = re.compile(
    rf"(?:^|[;.!?\n]\s*|\band\s+then\s+){_POLITE}(?:{'|'.join(_ORDERS)})", re.IGNORECASE
)


def asks_to_change(text: str) -> bool:
    """True where the text, or a sentence of it, orders a change.

    >>> [asks_to_change(each) for each in ("DROP TABLE orders;", "Please delete all orders.")]
    [True, True]
    >>> [asks_to_change(each) for each in ("Updates by month", "Which orders were deleted?")]
    [False, False]
    """
    return _COMMAND.search(text.strip()) is not None
