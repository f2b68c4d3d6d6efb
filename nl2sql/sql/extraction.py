"""Extracts the query from a model's answer.

Models reason aloud, use code fences, and explain before and after. The rules, in order:

1. Reasoning (``<think>`` and similar tags) is dropped, even if one of the tags is missing.
2. The last closed block in fences counts whose query parses; if none does, the last with a query.
   Else, if the answer begins with a query, it is taken up to a fence; else the first block with a
   query; else the prose itself is searched.
3. Of a JSON object, the first text with a query counts.
4. Of several statements, the first SELECT or WITH that parses is chosen; if none does, the first.
5. An explanation after the query is removed if the query does not parse with it.
6. Outside of literals and quoted names, typographic quotes, full-width signs, odd spaces and
   escaped line breaks are spelled plainly.

Does not judge what a query does; the guard does. Never raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.parsing import find_tree

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
    tree = find_tree(sql, dialect)
    return (
        isinstance(tree, exp.Query) and bool(tree.find(exp.Select)) and sql[-6:].upper() != "SELECT"
    )


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
    """
    for turn in _TURN.split(_THOUGHT.sub("", _THINKING.sub("", text)).lstrip("\ufeff\u200b")):
        answer = _MARKS.sub("\n", turn)
        for part in (*_choose_block(answer, dialect), *_list_blocks(answer)):
            if sql := _find_query(part, dialect):
                return _spell_plainly(sql)
    return ""


def _find_query(part: str, dialect: str) -> str:
    said = (choose_statement(text, dialect) for text in (*_list_json_texts(part), part))
    return next(filter(None, said), "")


def _list_json_texts(text: str) -> tuple[str, ...]:
    """The texts of a JSON object; none for anything else."""
    try:
        value = json.loads(text, strict=False) if text.lstrip().startswith("{") else {}
    except (ValueError, RecursionError):
        return ()
    return tuple(each for each in value.values() if isinstance(each, str))


# What keyboards and typography make of the signs of SQL.
_PLAIN = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\uff02", '"'),
    **dict.fromkeys("\u00a0\u2007\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
    **{chr(ord(sign) + 0xFEE0): sign for sign in "()*,.;<=>%+-/"},
}
_ODD = re.compile(
    r"(?P<text>\u2018[^\u2018\u2019]*\u2019|\u201c[^\u201c\u201d]*\u201d)"
    rf"|{LITERAL.pattern}|`[^`]*`|\[[^\[\]]*\]|\\n|[{''.join(_PLAIN)}]",
    re.DOTALL,
)


def _spell_plainly(sql: str) -> str:
    """The query with plain signs outside of literals, quoted names and comments.

    >>> _spell_plainly("SELECT count\uff08*\uff09 FROM t WHERE a = \u2018x\u2019\uff1b")
    "SELECT count(*) FROM t WHERE a = 'x'"
    """
    plain = _ODD.sub(_spell_sign, sql)
    return sql if plain == sql else _cut(plain)


def _spell_sign(match: re.Match[str]) -> str:
    if match["text"]:
        quote = _PLAIN[match[0][0]]
        return f"{quote}{match[0][1:-1].replace(quote, 2 * quote)}{quote}"
    return " " if match[0] == "\\n" else _PLAIN.get(match[0], match[0])


def _choose_block(answer: str, dialect: str) -> tuple[str, ...]:
    """The query of the last closed block that has one."""
    if len(_ANY_FENCE.findall(answer)) % 2 and _QUERY_FIRST.match(answer):
        # The first fence closes a block that the prompt opened.
        return ()
    blocks = [match[1] for match in _FENCE.finditer(answer) if match[2]]
    found = [_find_query(block, dialect) for block in reversed(blocks[-_MOST_BLOCKS:])]
    queries = [sql for sql in found if sql]
    return tuple(sorted(queries, key=lambda sql: not is_query(sql, dialect)))[:1]


def _list_blocks(answer: str) -> Iterator[str]:
    """The parts that may contain the query, the likeliest first."""
    if _QUERY_FIRST.match(answer):
        yield _ANY_FENCE.split(answer, maxsplit=1)[0]
    yield from (match[1] for match in _FENCE.finditer(answer))
    yield answer
