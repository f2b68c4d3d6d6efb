"""Finds the comparisons with a figure that a question asks for: "more than 5", "at least two"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nl2sql.languages.english import NUMBER_WORDS

_FIGURE = rf"\$?\s*(\d[\d,]*(?:\.\d+)?|{'|'.join(NUMBER_WORDS)})\b"
_YEAR = r"(?:the\s+)?(?:year\s+)?"
_UP = r"more|greater|higher|larger|older|bigger|longer|heavier|taller|later|better"
_DOWN = r"less|fewer|lower|smaller|younger|shorter|lighter|cheaper|earlier"
# "above 50 or below 46" does not contain "50 or below".
_ALONE = rf"(?!\s+(?:than\s+)?{_FIGURE.replace('(', '(?:', 1)})"
# The operators that each form allows; for whole numbers, equivalent ones (> 4 for >= 5) are added.
_FORMS = tuple(
    (re.compile(pattern, re.IGNORECASE), operators)
    for pattern, operators in (
        (rf"(?<!no )(?<!not )\b(?:{_UP})\s+than\s+{_FIGURE}(?!\s+or\s+equal)", (">",)),
        (rf"\b(?:above|over|exceed(?:s|ing)?)\s+{_FIGURE}(?!\s+or\s+equal)", (">",)),
        (rf"(?<!no )(?<!not )\b(?:{_DOWN})\s+than\s+{_FIGURE}(?!\s+or\s+equal)", ("<",)),
        (rf"\b(?:below|under)\s+{_FIGURE}(?!\s+or\s+equal)", ("<",)),
        (rf"\b(?:at\s+least|no\s+(?:less|fewer)\s+than)\s+{_FIGURE}", (">=",)),
        (rf"\b(?:at\s+most|no\s+more\s+than|not\s+more\s+than)\s+{_FIGURE}", ("<=",)),
        (
            rf"(?<!than )\b{_FIGURE}\s+or\s+(?:more|above|over|higher|greater|later){_ALONE}",
            (">=",),
        ),
        (
            rf"(?<!than )\b{_FIGURE}\s+or\s+"
            rf"(?:less|fewer|below|under|lower|before|earlier){_ALONE}",
            ("<=",),
        ),
        (rf"\bbefore\s+{_YEAR}{_FIGURE}", ("<",)),
        (rf"\bafter\s+{_YEAR}{_FIGURE}", (">",)),
        (rf"\bsince\s+{_YEAR}{_FIGURE}", (">=",)),
    )
)
_NEIGHBOURS = {">": (">=", 1), ">=": (">", -1), "<": ("<=", -1), "<=": ("<", 1)}

Comparison = frozenset[tuple[str, str]]


def list_comparisons(question: str) -> Iterator[Comparison]:
    """For each comparison asked for, the pairs of operator and figure that mean it.

    >>> [sorted(pairs) for pairs in list_comparisons("Who has more than two songs?")]
    [[('>', '2'), ('>=', '3')]]
    >>> [sorted(pairs) for pairs in list_comparisons("older than 20.5, or founded before 1,900")]
    [[('>', '20.5')], [('<', '1900'), ('<=', '1899')]]
    >>> [sorted(pairs) for pairs in list_comparisons("with 2 or more, or over 50 or below 46")]
    [[('>', '50'), ('>=', '51')], [('<', '46'), ('<=', '45')], [('>', '1'), ('>=', '2')]]
    """
    for pattern, operators in _FORMS:
        for match in pattern.finditer(question):
            figure = match.group(1).lower().replace(",", "")
            figure = str(NUMBER_WORDS.get(figure, figure))
            pairs = {(operator, figure) for operator in operators}
            if len(operators) == 1 and figure.isdigit():
                operator, step = _NEIGHBOURS[operators[0]]
                pairs.add((operator, str(int(figure) + step)))
            yield frozenset(pairs)
