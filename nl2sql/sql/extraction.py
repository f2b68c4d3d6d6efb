"""The query in a model's answer, whatever the model puts around it.

A model thinks aloud, fences, wraps in JSON, explains before and after. The rules, in this order:

1. What it thought (``<think>`` and its like) is dropped, closed or not.
2. An answer that begins with the query is the query, up to a fence; else the first fenced block
   that holds one; else the first JSON value under a usual key; else the prose itself.
3. Of several statements the first SELECT or WITH that parses; if none does, the first.
4. An explanation behind the query goes, where the query does not parse with it.

Knows nothing of what a query may do: that is the guard's business. Never raises.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from nl2sql.sql.json_answers import find_json_answers
from nl2sql.sql.statements import choose_statement, split_literals

_TAGS = "think|thinking|thought|reasoning|reflection|analysis|scratchpad"
_THINKING = re.compile(rf"<({_TAGS})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# Where the template of the chat has already opened it.
_THOUGHT = re.compile(rf"\A.*</(?:{_TAGS})>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(
    r"(?:```|~~~)[ \t]*(?!(?:SELECT|WITH)\b)[\w+.-]*[ \t]*\n?(.*?)(?:```|~~~|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ANY_FENCE = re.compile(r"```|~~~")
_QUERY_FIRST = re.compile(r"\s*+\(*+\s*+(?:SELECT|WITH)\b", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});", re.IGNORECASE)
_TURN = re.compile(r"<\|[\w ]{1,40}\|>|</s>")
_MARKS = re.compile(r"</?(?:sql|answer|final|query|code|pre)>", re.IGNORECASE)


def extract_sql(text: str, dialect: str = "postgres") -> str:
    """The query in a model's answer; empty when there is none.

    >>> extract_sql("Sure!\\n```sql\\nSELECT 1;\\n```\\nDone.")
    'SELECT 1'
    >>> extract_sql('{"reasoning": "few", "sql": "SELECT 2"}')
    'SELECT 2'
    """
    for turn in _TURN.split(_drop_thinking(text)):
        for part in _list_parts(_MARKS.sub("\n", turn)):
            if sql := choose_statement(_unescape(part), dialect):
                return sql
    return ""


def _drop_thinking(text: str) -> str:
    return _THOUGHT.sub("", _THINKING.sub("", text))


def _list_parts(answer: str) -> Iterator[str]:
    """Where the query may stand, the likeliest place first."""
    for block in _list_blocks(answer):
        # Braces may be the query's own.
        if not _QUERY_FIRST.match(block):
            for inside in find_json_answers(block):
                yield from _list_blocks(inside)
        yield block


def _list_blocks(answer: str) -> Iterator[str]:
    if _QUERY_FIRST.match(answer):
        yield _ANY_FENCE.split(answer, maxsplit=1)[0]
    yield from (match[1] for match in _FENCE.finditer(answer))
    yield answer


def _unescape(sql: str) -> str:
    """HTML entities outside of literals as what they stand for.

    >>> _unescape("a &lt; 5 AND b = '&lt;'")
    "a < 5 AND b = '&lt;'"
    """
    if not _ENTITY.search(sql):
        return sql
    return "".join(
        part if is_literal else _ENTITY.sub(lambda match: html.unescape(match[0]), part)
        for part, is_literal in split_literals(sql)
    )
