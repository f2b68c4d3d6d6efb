"""Extracts the query from a model's answer.

Models reason aloud, use code fences and JSON, and explain before and after. The rules, in order:

1. Reasoning (``<think>`` and similar tags) is dropped, even if one of the tags is missing.
2. The last closed block in fences counts whose query parses; if none does, the last with a query.
   Else, if the answer begins with a query, it is taken up to a fence; else the first block with a
   query; else the first JSON value under a usual key; else the prose itself is searched.
3. Of several statements, the first SELECT or WITH that parses is chosen; if none does, the first.
4. An explanation after the query is removed if the query does not parse with it.
5. Escapes, entities and typographic marks around a query are replaced, but not
   inside quotes, dollar quotes or comments.

Does not judge what a query does; the guard does. Never raises.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.parsing import parse_one

# Literals, quoted names and comments: semicolons inside them do not end a statement. Unclosed ones
# extend to the end: searching again from each opening would take quadratic time.
LITERAL = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z)"
    r"|--[^\n]*|/\*.*?(?:\*/|\Z)",
    re.DOTALL,
)
# The patterns below match from the start of a run of spaces and never backtrack (``*+``), so no
# space is read twice.
_START = re.compile(
    r"(?<![(\s])\s*+(?P<select>[(\s]*+\bSELECT\b)"
    r"|\b(?P<with>WITH\s++(?:RECURSIVE\s++)?(?:\w++|\"[^\"]+\"|`[^`]+`|\[[^\[\]]+\])\s*+(?:\(|AS\b))",
    re.IGNORECASE,
)
# At the beginning of a line, or after a label or mark: not in the middle of a sentence.
_BEFORE = re.compile(r"(?:\A|[:`>*\n])[ \t(]*\Z")
_CONTINUES = (
    "AND|AS|CASE|CROSS|ELSE|END|EXCEPT|FETCH|FROM|FULL|GROUP|HAVING|INNER|INTERSECT|JOIN|LEFT|LIMIT"
    "|NATURAL|OFFSET|ON|OR|ORDER|RIGHT|UNION|WHEN|WHERE|WINDOW"
)
_EXPLAINS = (
    "Answer|Assistant|Explanation|Here|However|Human|I|In this|It|Let|Note|Output|Please|Question"
    "|Result|Schema|The|This|User|We|You"
)
_LINE_END = r"[^\S\n]*+\n"
# A result that the model made up, under a label.
_LABEL = rf"{_LINE_END}\s*+(?:SQL ?Result|Answer|Observation|Final Answer)\s*+:(?!:)"
# Where an explanation may begin: a new paragraph that does not start with a clause, a line that
# begins like a sentence, or a remark behind a dash.
_PROSE = re.compile(
    rf"(?<!\s){_LINE_END}{_LINE_END}\s*+(?!--|/\*|[(),]|(?:{_CONTINUES}|SELECT|WITH)\b)"
    rf"|(?<!\s){_LINE_END}\s*+(?:[*#>-]++\s*+)?(?:{_EXPLAINS})\b(?!\s*\()"
    r"|(?<!\s)\s++[\u2013\u2014]\s++(?![^\n]*[=<>(])",
    re.IGNORECASE,
)
_END = re.compile(rf";|{_LABEL}")
_NEXT_QUERY = re.compile(rf"(?<!\s){_LINE_END}\s*+(?=(?:SELECT|WITH)\b)", re.IGNORECASE)
_BACKTICK = re.compile("`")
_KEYWORD_FIRST = re.compile(r"[\s(]*(?:SELECT|WITH)\b")
# Answers have only a few.
_MOST_STARTS = 8
_MOST_ENDINGS = 6
# Characters that are parsed in search of a query, all attempts together.
_MOST_TRIED = 12_000


def choose_statement(text: str, dialect: str) -> str:
    """The first query of the text that parses; if none does, the first; empty if there is none.

    >>> choose_statement("I select: SELECT a FROM t; SELECT b FROM t", "postgres")
    'SELECT a FROM t'
    """
    first, end, tried = "", 0, 0
    starts = find_starts(text)
    for start in starts[:_MOST_STARTS]:
        if start < end:
            # Part of a query that does not parse, such as its subquery: not an answer itself.
            continue
        statement = _cut(text[start:])
        explained = _cut_at(_PROSE, statement)
        shortest = min([statement, *explained], key=len)
        alone = not text[:start].strip() and not text[start + len(statement) :].strip("; \n\t`")
        if alone and not explained and not _NEXT_QUERY.search(statement):
            # The whole text is one query, so it need not parse.
            return statement
        quoted = _cut_at(_BACKTICK, statement)[::-1] if text[start - 1 : start] == "`" else []
        for ending in (*quoted, statement, *explained, *_cut_at(_NEXT_QUERY, statement)):
            tried += len(ending)
            if tried <= _MOST_TRIED and is_query(ending, dialect):
                return ending
        if _begins_query(text, start):
            first, end = first or shortest, start + len(shortest)
    return first


def find_starts(text: str) -> list[int]:
    """Positions where a query may begin: starts of lines first, then inside sentences.

    >>> text = "To select them: SELECT a FROM t"
    >>> [text[at:at + 8] for at in find_starts(text)]
    ['SELECT a', 'select t']
    """
    starts = [match.start(match.lastgroup or 0) for match in _START.finditer(text)]
    surely = [at for at in starts if _BEFORE.search(text, max(at - 40, 0), at)]
    return surely + [at for at in starts if at not in surely]


def split_literals(sql: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text; True marks a literal, a quoted name or a comment."""
    position = 0
    for match in LITERAL.finditer(sql):
        yield sql[position : match.start()], False
        yield match[0], True
        position = match.end()
    yield sql[position:], False


def _cut(text: str) -> str:
    """The text up to the first semicolon or label outside literals."""
    position = 0
    for part, is_literal in split_literals(text):
        if not is_literal and (end := _END.search(part)):
            return text[: position + end.start()].strip()
        position += len(part)
    return text.strip()


def _cut_at(mark: re.Pattern[str], statement: str) -> list[str]:
    """The statement up to each of the marks, the longest first."""
    cuts = [match.start() for match in mark.finditer(statement)][:_MOST_ENDINGS]
    return [statement[:at].strip() for at in reversed(cuts)]


def _begins_query(text: str, start: int) -> bool:
    """False in the middle of a sentence, as in "to select them"."""
    return bool(
        _BEFORE.search(text, max(start - 40, 0), start) or _KEYWORD_FIRST.match(text, start)
    )


def is_query(sql: str, dialect: str) -> bool:
    """True if the text parses as a query in the dialect."""
    try:
        tree = parse_one(sql, dialect)
    except (SqlglotError, RecursionError):
        return False
    return (
        isinstance(tree, exp.Query) and bool(tree.find(exp.Select)) and sql[-6:].upper() != "SELECT"
    )


_ENTITY = r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});"
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_NOTHING = "\u00ad\u200b-\u200d\u2060\ufeff"
# Full-width ! % ( ) * + , - . / ; < = >, in the order of ASCII; letters and digits may be names.
_WIDE = "\uff01\uff05\uff08-\uff0f\uff1b-\uff1e"
_WIDE_OFFSET = 0xFF01 - ord("!")
_QUOTES, _DOUBLE = "\u2018\u2019\u201a\u2032\u00b4", "\u201c\u201d\u201e\u2033"
_SIGNS = {"\u2265": ">=", "\u2264": "<=", "\u2260": "<>", "\u2212": "-", "\u2013": "-"}
_ODD = re.compile(
    rf"(?P<escape>\\[nrt])|(?P<entity>{_ENTITY})|(?P<space>[{_SPACES}])|(?P<nothing>[{_NOTHING}])"
    rf"|(?P<wide>[{_WIDE}])|(?P<sign>[\u2265\u2264\u2260\u2212]|\u2013(?=\s*\d))"
    rf"|[{_QUOTES}](?P<text>[^{_QUOTES}]*)[{_QUOTES}]|[{_DOUBLE}](?P<name>[^{_DOUBLE}]*)[{_DOUBLE}]",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"{LITERAL.pattern}|{_ODD.pattern}", re.DOTALL | re.IGNORECASE)
# In prose before the query an apostrophe opens no literal.
_BEGINS = re.compile(r"(?:\\[nrt]|\b)(?:SELECT|WITH)\b", re.IGNORECASE)


def clean_query(text: str) -> str:
    r"""The text with plain characters from its first query on.

    >>> clean_query("SELECT\u00a0a FROM t\\nWHERE b = \u2018it's\u2019 AND c &lt; 5")
    "SELECT a FROM t\nWHERE b = 'it''s' AND c < 5"
    >>> clean_query("SELECT '&lt;', '\\n'&nbsp;")
    "SELECT '&lt;', '\\n' "
    """
    if not _ODD.search(text):
        return text
    begins = _BEGINS.search(text)
    at = begins.start() if begins else 0
    return text[:at] + _TOKEN.sub(_replace, text[at:])


def _replace(match: re.Match[str]) -> str:
    token = match[0]
    match match.lastgroup:
        case "escape":
            return "\n" if token == "\\n" else " "
        case "entity":
            return html.unescape(token).replace("\u00a0", " ")
        case "space":
            return " "
        case "nothing":
            return ""
        case "wide":
            return chr(ord(token) - _WIDE_OFFSET)
        case "sign":
            return _SIGNS[token]
        case "text":
            return "'" + token[1:-1].replace("'", "''") + "'"
        case "name":
            return '"' + token[1:-1].replace('"', '""') + '"'
        case _:
            return token


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
