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


def spaced_names(sql: str, facts: Facts) -> str:
    """``JOIN Order Details`` becomes ``JOIN "Order Details"`` if a table is called so.

    So does the name of a column.

    >>> from nl2sql.catalog import Table
    >>> facts = Facts("sqlite", [Table("main", "Order Details", ())])
    >>> spaced_names("SELECT * FROM Orders JOIN order details AS d ON TRUE", facts)
    'SELECT * FROM Orders JOIN "Order Details" AS d ON TRUE'
    """
    tokens = split_tokens(sql)
    for name in facts.spaced_names:
        words = [token.upper for token in split_tokens(name)]
        for at in range(len(tokens) - len(words), -1, -1):
            if [token.upper for token in tokens[at : at + len(words)]] == words:
                tokens[at : at + len(words)] = [tokens[at].spell(f'"{name}"')]
    return join_tokens(tokens)
