"""Splits a query into tokens before it can be parsed.

Text rules work on tokens: quoted text is one token and a comment none, so that no rule changes a
value. Knows nothing of any dialect's grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

_SPACE = r"(?:\s|--[^\n]*|/\*.*?\*/)*"
_TEXT = (
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\d+(?:\.\d+)?|[^\W\d]\w*"
    r"|<=>|->>|!~~\*|!~~|!~\*|~~\*|<>|!=|>=|<=|==|=>|=<|!<|!>|!~|~\*|~~|\|\||&&|::|->|@>|<@|\S"
)
_TOKEN = re.compile(rf"(?P<space>{_SPACE})(?P<text>{_TEXT}|$)", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*")

# The words that begin a clause, or end the one before it.
CLAUSES = frozenset(
    "SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH WINDOW QUALIFY UNION EXCEPT INTERSECT "
    "MINUS JOIN INNER LEFT RIGHT FULL CROSS NATURAL ON USING".split()
)
SET_WORDS = frozenset({"UNION", "EXCEPT", "INTERSECT", "MINUS"})
# Keywords that are never names here.
KEYWORDS = CLAUSES | frozenset(
    "AND OR NOT IN IS AS BY LIKE ILIKE BETWEEN EXISTS CASE WHEN THEN ELSE END ASC DESC DISTINCT "
    "ALL ANY SOME NULL NULLS WITH OVER FILTER OUTER LATERAL VALUES TRUE FALSE INTERVAL".split()
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, quoted text or sign, with the spaces and comments before it."""

    space: str
    text: str

    @property
    def upper(self) -> str:
        """The token in capitals, to compare keywords with."""
        return self.text.upper()

    @property
    def is_word(self) -> bool:
        """Whether it is an unquoted word: a keyword or a name."""
        return _WORD.fullmatch(self.text) is not None

    @property
    def is_name(self) -> bool:
        """Whether it is an unquoted word other than a keyword, or a name in double quotes."""
        return self.text[0] == '"' or (self.is_word and self.upper not in KEYWORDS)

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


def find_opening(tokens: Sequence[Token], index: int) -> int:
    """The index of the innermost opening parenthesis around ``index``; -1 if there is none.

    >>> find_opening(split_tokens("a ( b ( c ) d )"), 6)
    1
    """
    depth = 0
    for place in range(index - 1, -1, -1):
        if tokens[place].text == ")":
            depth += 1
        elif tokens[place].text == "(":
            depth -= 1
            if depth < 0:
                return place
    return -1


def find_clause(tokens: Sequence[Token], start: int, end: int, *words: str) -> int:
    """The first of ``words`` at the depth of ``start``, before ``end``; -1 if there is none."""
    depth = 0
    for index in range(start, end):
        text = tokens[index].text
        if text == "(":
            depth += 1
        elif text == ")":
            depth -= 1
        elif depth == 0 and tokens[index].upper in words:
            return index
    return -1
