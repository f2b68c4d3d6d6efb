"""Finds queries in JSON: under any usual key, nested, in a list, or truncated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# The most reliable first: an "answer" may be prose.
_KEYS = (
    "sql",
    "sql_query",
    "sqlquery",
    "final_sql",
    "generated_sql",
    "query",
    "final_query",
    "statement",
    "code",
    "final_answer",
    "answer",
    "result",
    "response",
    "output",
    "content",
)
_QUERY = re.compile(r"\b(?:SELECT|WITH)\b", re.IGNORECASE)
_PAIR = re.compile(
    rf"""["'](?:{"|".join(_KEYS)})["']\s*:\s*"((?:[^"\\]|\\.)*)""", re.DOTALL | re.IGNORECASE
)
_DECODER = json.JSONDecoder(strict=False)
_MOST_OBJECTS = 20
_DEEPEST = 20


def find_json_answers(text: str) -> Iterator[str]:
    """The texts that contain a query: by object, then the most reliable key first.

    >>> list(find_json_answers('It is {"answer": {"SQL": "SELECT 1"}}'))
    ['SELECT 1']
    """
    found = False
    for value in _read_objects(text):
        for answer in sorted(_list_answers(value, "", 0), key=lambda pair: pair[0]):
            found = True
            yield answer[1]
    if not found:
        # The object is truncated or malformed.
        for match in _PAIR.finditer(text):
            if _QUERY.search(match[1]):
                yield _decode(match[1])


def _read_objects(text: str) -> Iterator[Any]:
    """Every JSON object or list in the text, one after the other."""
    position = 0
    for _ in range(_MOST_OBJECTS):
        starts = [at for mark in "{[" if (at := text.find(mark, position)) >= 0]
        if not starts:
            return
        try:
            value, position = _DECODER.raw_decode(text, min(starts))
            yield value
        except (ValueError, RecursionError):
            position = min(starts) + 1


def _list_answers(value: Any, key: str, depth: int) -> Iterator[tuple[int, str]]:
    """Pairs of the key's position in ``_KEYS`` and the text under it."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            known = str(name).lower().replace("-", "_").replace(" ", "_")
            yield from _list_answers(inner, known if known in _KEYS else key, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _list_answers(inner, key or _KEYS[-1], depth + 1)
    elif isinstance(value, str) and key in _KEYS and _QUERY.search(value):
        yield _KEYS.index(key), value


def _decode(text: str) -> str:
    """The content of a JSON string, as far as it can be decoded."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text.replace("\\n", "\n").replace('\\"', '"')
