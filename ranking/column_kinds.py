"""What kind of values a column type holds, for every dialect."""

from __future__ import annotations

import re

_KINDS = (
    (re.compile(r"interval|\[\]|json|range|array|struct|map", re.IGNORECASE), ""),
    (re.compile(r"date|time", re.IGNORECASE), "date"),
    (re.compile(r"bool|^bit$", re.IGNORECASE), "boolean"),
    (re.compile(r"char|text|clob|string|enum", re.IGNORECASE), "text"),
    (
        re.compile(r"int|serial|numeric|decimal|number|real|double|float|money", re.IGNORECASE),
        "number",
    ),
)
_INTEGER = re.compile(r"^(tiny|small|medium|big|huge|u)*int|serial", re.IGNORECASE)


def find_kind(type_name: str) -> str:
    """``number``, ``text``, ``date`` or ``boolean``; empty for anything else.

    >>> find_kind("numeric(12,2)"), find_kind("VARCHAR(20)"), find_kind("timestamp"), find_kind("")
    ('number', 'text', 'date', '')
    """
    return next((kind for pattern, kind in _KINDS if pattern.search(type_name)), "")


def is_integer(type_name: str) -> bool:
    """True for whole numbers.

    >>> is_integer("bigint"), is_integer("INTEGER"), is_integer("numeric"), is_integer("interval")
    (True, True, False, False)
    """
    return _INTEGER.match(type_name) is not None and find_kind(type_name) == "number"
