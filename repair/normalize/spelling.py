"""Rules on the text of a query that may not parse, one after the other.

They work on tokens: quoted text is one token and a comment none, so that no rule changes a value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from repair.normalize.facts import Facts

_SPACE = r"(?:\s|--[^\n]*|/\*.*?\*/)*"
_TEXT = (
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\d+(?:\.\d+)?|[^\W\d]\w*"
    r"|<=>|->>|!~~\*|!~~|!~\*|~~\*|<>|!=|>=|<=|==|=>|=<|!<|!>|!~|~\*|~~|\|\||&&|::|->|@>|<@|\S"
)
_TOKEN = re.compile(rf"(?P<space>{_SPACE})(?P<text>{_TEXT}|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, quoted text or sign, with the spaces and comments before it."""

    space: str
    text: str

    @property
    def upper(self) -> str:
        """The token in capitals, to compare keywords with."""
        return self.text.upper()

    def spell(self, text: str) -> Token:
        """A copy with another text."""
        return replace(self, text=text)


def split_tokens(sql: str) -> list[Token]:
    """The tokens of a query, without trailing space.

    >>> [token.text for token in split_tokens("SELECT 'a b' -- note\\n FROM t")]
    ['SELECT', "'a b'", 'FROM', 't']
    """
    return list(_split(sql))


# Cached: most rules do not change the text, so the next one splits the same.
@lru_cache(maxsize=16)
def _split(sql: str) -> tuple[Token, ...]:
    # The last may be a comment alone.
    found = (Token(each["space"], each["text"]) for each in _TOKEN.finditer(sql))
    return tuple(token for token in found if token.text)


def join_tokens(tokens: Sequence[Token]) -> str:
    """The text of the tokens, with their original spaces.

    >>> join_tokens(split_tokens(" SELECT  a FROM t "))
    'SELECT  a FROM t'
    """
    return "".join(token.space + token.text for token in tokens).strip()


# Phrases and signs that no target reads, and what is meant; longer ones first.
_SPELLED = (
    ("IS NOT IN", "NOT IN"),
    ("IS NOT LIKE", "NOT LIKE"),
    ("IS NOT BETWEEN", "NOT BETWEEN"),
    ("IS IN", "IN"),
    ("IS LIKE", "LIKE"),
    ("IS BETWEEN", "BETWEEN"),
    ("= IN", "IN"),
    ("= LIKE", "LIKE"),
    ("NOT REGEXP", "!~"),
    ("REGEXP", "~"),
    ("==", "="),
    ("=<", "<="),
    ("=>", ">="),
    ("&&", "AND"),
)
_WORDS = tuple((phrase.split(), meant) for phrase, meant in _SPELLED)


def operators(sql: str, facts: Facts) -> str:
    """``==``, ``&&`` and ``IS NOT IN`` become ``=``, ``AND`` and ``NOT IN``.

    Also ``LIMIT 5, 10`` and, on PostgreSQL, ``REGEXP``.

    >>> operators("SELECT a FROM t WHERE b == 1 && c IS NOT IN (1, 2)", Facts("postgres"))
    'SELECT a FROM t WHERE b = 1 AND c NOT IN (1, 2)'
    >>> operators("SELECT a FROM t LIMIT 5, 10", Facts("postgres"))
    'SELECT a FROM t LIMIT 10 OFFSET 5'
    """
    tokens = split_tokens(sql)
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        words = [token.upper for token in tokens[index : index + 4]]
        if words[0] == "LIMIT" and words[2:3] == [","] and len(words) == 4:
            limit = f"LIMIT {words[3]} OFFSET {words[1]}"
            result.append(tokens[index].spell(limit))
            index += 4
            continue
        for phrase, meant in _WORDS:
            is_own = "REGEXP" in phrase and facts.target != "postgres"
            if words[: len(phrase)] == phrase and not is_own:
                result.append(Token(tokens[index].space or " ", meant))
                index += len(phrase)
                break
        else:
            result.append(tokens[index])
            index += 1
    return join_tokens(result)


_JOIN_ENDS = frozenset(
    "WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH WINDOW QUALIFY UNION EXCEPT INTERSECT ;".split()
)
_CONDITIONS = frozenset({"ON", "USING"})
# Joins that need no condition, or whose meaning would change.
_OTHERS = frozenset({"CROSS", "NATURAL", "LEFT", "RIGHT", "FULL", "OUTER", "LATERAL"})


def bare_joins(sql: str, facts: Facts) -> str:
    """SQLite's ``a JOIN b JOIN c ON …`` becomes ``a CROSS JOIN b JOIN c ON …``.

    The last condition may name all tables before it. Joins that are followed by all their
    conditions stay.

    >>> bare_joins("SELECT 1 FROM a JOIN b JOIN c ON a.x = b.x AND c.y = b.y", Facts("postgres"))
    'SELECT 1 FROM a CROSS JOIN b JOIN c ON a.x = b.x AND c.y = b.y'
    """
    if facts.target == "sqlite":
        return sql  # the target reads them
    tokens = split_tokens(sql)
    for start in range(len(tokens) - 1, -1, -1):
        if tokens[start].upper != "FROM":
            continue
        joins, conditions = _find_joins(tokens, start + 1)
        if len(conditions) >= len(joins):
            continue
        for place, following in zip(joins[::-1], [len(tokens), *joins[:0:-1]], strict=True):
            if not any(place < condition < following for condition in conditions):
                is_inner = tokens[place - 1].upper == "INNER"
                at = place - is_inner
                tokens[at] = tokens[at].spell("CROSS" if is_inner else "CROSS JOIN")
    return join_tokens(tokens)


def _find_joins(tokens: list[Token], start: int) -> tuple[list[int], list[int]]:
    """The indices of the joins of one FROM that need a condition, and of the conditions."""
    depth, joins, conditions = 0, [], []
    for index in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        word = tokens[index].upper
        if depth < 0 or (depth == 0 and word in _JOIN_ENDS):
            break
        if depth == 0 and word == "JOIN" and tokens[index - 1].upper not in _OTHERS:
            joins.append(index)
        elif depth == 0 and word in _CONDITIONS:
            conditions.append(index)
    return joins, conditions
