"""Writes rules in xgrammar's EBNF, which is like GBNF: ``name ::= "text" | [a-z] {m,n}``.

Reference: xgrammar's documentation of its EBNF format.
"""

from __future__ import annotations

from collections.abc import Iterable


class RuleBook:
    """Rules by name, in the order in which they were added."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    def add(self, name: str, body: str) -> str:
        """Adds a rule and returns its name. Rules of the same name must be equal."""
        known = self._rules.setdefault(name, body)
        assert known == body, f"two rules {name}"
        return name

    def word(self, text: str) -> str:
        """The rule for a keyword in upper or lower case; spaces may be line breaks.

        >>> book = RuleBook()
        >>> book.word("GROUP BY")
        'k_group_by'
        >>> print(book.render())
        k_group_by ::= ("GROUP" ws "BY") | ("group" ws "by")
        """
        upper, lower = text.upper().split(), text.lower().split()
        spellings = (upper,) if upper == lower else (upper, lower)
        body = " | ".join(f"({' ws '.join(map(quote, words))})" for words in spellings)
        return self.add("k_" + "_".join(lower), body)

    def any_word(self, name: str, words: Iterable[str]) -> str:
        """A rule for any of the keywords."""
        return self.add(name, any_of(self.word(word) for word in words))

    def render(self) -> str:
        """All rules, one in each line."""
        return "\n".join(f"{name} ::= {body}" for name, body in self._rules.items())


def quote(text: str) -> str:
    r"""The text as a terminal; unprintable characters are escaped.

    >>> print(quote('"Order\\Total"'), quote("a\nb"))
    "\"Order\\Total\"" "a\nb"
    """
    return f'"{"".join(map(_escape, text))}"'


def _escape(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(sign) or f"\\U{ord(sign):08x}"


def any_of(bodies: Iterable[str]) -> str:
    """The distinct alternatives.

    >>> any_of(['"a"', '"b"', '"a"'])
    '("a" | "b")'
    """
    return f"({' | '.join(dict.fromkeys(bodies))})"


def listing(item: str, most: int, separator: str = "comma") -> str:
    """One to ``most`` items.

    >>> listing("item", 3)
    'item (comma item){0,2}'
    """
    return f"{item} ({separator} {item}){{0,{most - 1}}}"
