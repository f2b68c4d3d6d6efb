"""Rules on the text of a query that may not parse, one after the other.

They work on tokens: quoted text is one token and a comment none, so that no rule changes a value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from nl2sql.sql.names import enquote
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


# What stands before and after values; a keyword between them is a name.
_BOTH = ", = == < > <= >= <> != + - * / || AND OR NOT THEN ELSE"
_BEFORE = frozenset(f"{_BOTH} ( SELECT DISTINCT WHERE ON BY WHEN".split())
_AFTER = frozenset(f"{_BOTH} ) FROM WHERE GROUP ORDER LIMIT AS IS IN LIKE BETWEEN DESC END".split())


def quoted_names(sql: str, facts: Facts) -> str:
    """``JOIN Order Details`` becomes ``JOIN "Order Details"`` if a table is called so.

    So does the name of a column, and a number or a keyword in the place of a name.

    >>> from nl2sql.catalog import Table
    >>> facts = Facts("sqlite", [Table("main", name, ()) for name in ("Order Details", "2019")])
    >>> quoted_names("SELECT 2019.id FROM 2019 JOIN order\\n details AS d ON 2019.x = 2019", facts)
    'SELECT "2019".id FROM "2019" JOIN "Order Details" AS d ON "2019".x = 2019'
    """
    tokens = split_tokens(sql)
    written = " ".join(sql.upper().split())
    for name in facts.quoted_names:
        words = name.upper().split()
        if " ".join(words) not in written:
            continue
        size = len(split_tokens(name)) or 1
        for at in range(len(tokens) - size, -1, -1):
            found = tokens[at : at + size]
            is_same = join_tokens(found).upper().split() == words
            if is_same and (size > 1 or _is_name(tokens, at)):
                tokens[at : at + size] = [found[0].spell(enquote(name))]
    return join_tokens(tokens)


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number or a keyword stands where only a name can."""
    around = (Token("", "("), *tokens, Token("", ")"))[at : at + 3]
    before, token, after = (each.upper for each in around)
    if before in ("FROM", "JOIN", ".") or after == ".":
        return True
    return not token.isdigit() and before in _BEFORE and after in _AFTER
