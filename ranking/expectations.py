"""What a question, by its words alone, lets its answer look like.

Conservative: what is not said in a form known here is not expected, and nothing that an answer
looks like is held against it then. English only; a question in another language expects nothing.
docs/ranking.md gives, for each expectation, how often it is raised and how often it is right on
Spider's training questions, where the patterns were made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ranking.asked_columns import count_columns

_NUMBERS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
_SUPERLATIVE = (
    r"(?:most|least|fewest|highest|lowest|largest|smallest|biggest|greatest|oldest|youngest|latest|"
    r"earliest|newest|longest|shortest|best|worst|heaviest|lightest|cheapest|tallest|fastest|"
    r"slowest|maximum|minimum|max|min)"
)
_HOW_MANY = re.compile(
    r"(?:^|\b(?:find|show|list|tell|me|compute|state)\s+)(?:how many\b|count\b|"
    r"(?:what|what's|find|show|give|return|list|tell me)?\s*(?:is|was|are|me)?\s*(?:the\s+)?"
    r"(?:total\s+)?(?:number|count)\s+of\b)",
    re.IGNORECASE,
)
_GROUPED = re.compile(
    r"\b(?:for|of|in|by|from|at|to|on|with|does|do|did|have|has)\s+each\b"
    r"|(?<!miles )\bper\b|\bgrouped by\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    rf"\b(?:number|count|average|mean|total|sum|how many|{_SUPERLATIVE})\b", re.IGNORECASE
)
_TOP = re.compile(
    rf"\b(?:top|first|last|bottom)\s+(\d+|{'|'.join(_NUMBERS)})\b"
    rf"|\b(\d+|{'|'.join(_NUMBERS)})\s+{_SUPERLATIVE}\b",
    re.IGNORECASE,
)
_ONE_BEST = re.compile(
    rf"\bthe\s+(?:single\s+)?{_SUPERLATIVE}\b|\bwith\s+the\s+{_SUPERLATIVE}\b"
    rf"|\bthe\s+{_SUPERLATIVE}\s+(?:number|amount|count)\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"\b(?:order(?:ed)?\s+by|sort(?:ed)?\s+by|in\s+(?:\w+\s+)?(?:alphabetical|ascending|descending|"
    r"lexicographical|increasing|decreasing|chronological)\s+order|in\s+the\s+order\s+of|"
    r"ascending|descending|alphabetically|sorted|ordered)\b",
    re.IGNORECASE,
)
_DISTINCT = re.compile(r"\b(?:distinct|different|unique)\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:do|does|did|have|has|had|is|are|was|were)(?: not| never|n't)\b"
    r"|\b(?:never|without|except|excluding)\b|\b(?:have|has|had|with) no\b",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"\b(?:average|mean|avg)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the answer should look like; None, empty and False expect nothing.

    ``columns`` holds the numbers of columns that fit. ``rows`` is the number of rows, at most.
    ``one_number``: one row of one number. ``best``: the one or few at one end of an order.
    """

    columns: tuple[int, ...] = ()
    rows: int | None = None
    one_number: bool = False
    count: bool = False
    average: bool = False
    grouped: bool = False
    ordered: bool = False
    best: bool = False
    distinct: bool = False
    negated: bool = False


def read_expectations(question: str) -> Expectations:
    """What the question expects.

    >>> read_expectations("How many singers are there?").one_number
    True
    >>> read_expectations("Show the name and age of the 3 youngest singers.").columns
    (2,)
    >>> read_expectations("Show the name and age of the 3 youngest singers.").rows
    3
    >>> read_expectations("Which stadiums have no concert?").negated
    True
    """
    text = " ".join(question.split())
    columns = count_columns(text)
    grouped = _GROUPED.search(text) is not None
    counts = _HOW_MANY.search(text) is not None
    rows = _read_rows(text)
    best = rows is not None or _ONE_BEST.search(text) is not None
    return Expectations(
        columns=columns,
        rows=rows,
        one_number=text.lower().startswith(("how many", "count ")) and columns == (1,),
        count=counts,
        average=_AVERAGE.search(text) is not None,
        grouped=grouped and _FIGURE.search(text) is not None,
        ordered=_ORDERED.search(text) is not None,
        best=best,
        distinct=_DISTINCT.search(text) is not None,
        negated=_NEGATED.search(text) is not None,
    )


def _read_rows(text: str) -> int | None:
    """The number in "top 5", "three oldest".

    >>> _read_rows("the top 5 singers"), _read_rows("the three oldest singers"), _read_rows("all")
    (5, 3, None)
    """
    if (match := _TOP.search(text)) is None:
        return None
    word = (match.group(1) or match.group(2)).lower()
    return int(word) if word.isdigit() else _NUMBERS[word]
