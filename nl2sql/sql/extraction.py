"""Extracts the query from a model's answer.

Models reason aloud, use code fences and JSON, and explain before and after. The rules, in order:

1. Reasoning (``<think>`` and similar tags) is dropped, even if the tag is not closed.
2. If the answer begins with a query, it is taken up to a fence; else the first fenced block with a
   query; else the first JSON value under a usual key; else the prose itself is searched.
3. Of several statements, the first SELECT or WITH that parses is chosen; if none does, the first.
4. An explanation after the query is removed if the query does not parse with it.

Does not judge what a query does; the guard does. Never raises.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from nl2sql.sql.json_answers import find_json_answers
from nl2sql.sql.statements import choose_statement, split_literals

_TAGS = "think|thinking|thought|reasoning|reflection|analysis|scratchpad"
_THINKING = re.compile(rf"<({_TAGS})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# Reasoning whose opening tag was in the chat template.
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
    """The parts that may contain the query, the likeliest first."""
    for block in _list_blocks(answer):
        # In a query, braces are not JSON.
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
    """Replaces HTML entities outside literals.

    >>> _unescape("a &lt; 5 AND b = '&lt;'")
    "a < 5 AND b = '&lt;'"
    """
    if not _ENTITY.search(sql):
        return sql
    return "".join(
        part if is_literal else _ENTITY.sub(lambda match: html.unescape(match[0]), part)
        for part, is_literal in split_literals(sql)
    )
