"""Extracts the query from a model's answer.

Models reason aloud, use code fences and JSON, and explain before and after. The rules, in order:

1. Reasoning (``<think>`` and similar tags) is dropped, even if one of the tags is missing.
2. The last closed block in fences counts whose query parses; if none does, the last with a query.
   Else, if the answer begins with a query, it is taken up to a fence; else the first block with a
   query; else the first JSON value under a usual key; else the prose itself is searched.
3. Of several statements, the first SELECT or WITH that parses is chosen; if none does, the first.
4. An explanation after the query is removed if the query does not parse with it.
5. Escapes, entities and typographic marks around a query are replaced (``cleaning``).

Does not judge what a query does; the guard does. Never raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nl2sql.sql.cleaning import clean_query
from nl2sql.sql.json_answers import find_json_answers
from nl2sql.sql.statements import choose_statement, is_query

_TAGS = "think|thinking|thought|reasoning|reflection|analysis|scratchpad"
_THINKING = re.compile(
    rf"<({_TAGS})\b[^<>]*>.*?(?:</\1>|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z)",
    re.DOTALL | re.IGNORECASE,
)
# Reasoning whose opening tag was in the chat template.
_THOUGHT = re.compile(rf"\A.*(?:</(?:{_TAGS})>|\[/THINK\])", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(
    r"(?:```|~~~)[ \t]*(?!(?:SELECT|WITH)\b)[\w+.-]*[ \t]*\n?(.*?)(```|~~~|\Z)",
    re.DOTALL | re.IGNORECASE,
)
# Answers have only a few.
_MOST_BLOCKS = 8
_ANY_FENCE = re.compile(r"```|~~~")
_QUERY_FIRST = re.compile(r"\s*+\(*+\s*+(?:SELECT|WITH)\b", re.IGNORECASE)
_TURN = re.compile(r"<\|[\w ]{1,40}\|>|</s>")
_MARKS = re.compile(r"</?(?:sql|answer|final|query|code|pre)>", re.IGNORECASE)


def extract_sql(text: str, dialect: str = "postgres") -> str:
    """The query in a model's answer; empty when there is none.

    >>> extract_sql("Sure!\\n```sql\\nSELECT 1;\\n```\\nDone.")
    'SELECT 1'
    >>> extract_sql('{"reasoning": "few", "sql": "SELECT 2"}')
    'SELECT 2'
    """
    for turn in _TURN.split(_drop_thinking(text).lstrip("\ufeff\u200b")):
        answer = _MARKS.sub("\n", turn)
        for parts in (_choose_block(answer, dialect), *map(_list_inside, _list_blocks(answer))):
            if sql := _find_query(parts, dialect):
                return sql
    return ""


def _find_query(parts: Iterable[str], dialect: str) -> str:
    """The first query in any of the parts."""
    found = (choose_statement(clean_query(part), dialect) for part in parts)
    return next((sql for sql in found if sql), "")


def _choose_block(answer: str, dialect: str) -> tuple[str, ...]:
    """The query of the last closed block that has one."""
    if len(_ANY_FENCE.findall(answer)) % 2 and _QUERY_FIRST.match(answer):
        # The first fence closes a block that the prompt opened.
        return ()
    blocks = [match[1] for match in _FENCE.finditer(answer) if match[2]]
    found = [
        _find_query(_list_inside(block), dialect) for block in reversed(blocks[-_MOST_BLOCKS:])
    ]
    queries = [sql for sql in found if sql]
    return tuple(sorted(queries, key=lambda sql: not is_query(sql, dialect)))[:1]


def _drop_thinking(text: str) -> str:
    return _THOUGHT.sub("", _THINKING.sub("", text))


def _list_inside(block: str) -> Iterator[str]:
    """What is under the usual keys of JSON in a block, then the block."""
    # In a query, braces are not JSON.
    if not _QUERY_FIRST.match(block):
        for inside in find_json_answers(block):
            yield from _list_blocks(inside)
    yield block


def _list_blocks(answer: str) -> Iterator[str]:
    """The parts that may contain the query, the likeliest first."""
    if _QUERY_FIRST.match(answer):
        yield _ANY_FENCE.split(answer, maxsplit=1)[0]
    yield from (match[1] for match in _FENCE.finditer(answer))
    yield answer
