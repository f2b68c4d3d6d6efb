"""The headings of columns for people: a word for what the query gave no name.

Programs keep the names that the database gives: these headings are for sentences, terminals, chats
and the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from nl2sql.units import read_unit

# What a column is called to which the query gives no name; the second by PostgreSQL.
NAMELESS = ("", "?column?")
# On SQLite and DuckDB such a column is called by its expression: COUNT(*), sum(o.amt).
_CALL = re.compile(
    r"(?P<function>count|sum|avg|min|max|total)"
    r"\(\s*(?P<distinct>distinct\s+)?(?P<what>\*|(?:\w+\.|\"[^\"]+\"\.)*(?:\w+|\"[^\"]+\"))?\s*\)",
    re.IGNORECASE,
)
_SAID = {
    "count": "count",
    "sum": "sum",
    "total": "sum",
    "avg": "average",
    "min": "lowest",
    "max": "highest",
}


def name_columns(columns: Sequence[str], units: Sequence[str] = ()) -> tuple[str, ...]:
    """The headings: a column without a name is the value, or is called by its position.

    A unit follows in brackets, where the name does not end with it.

    >>> name_columns(("name", "?column?")), name_columns(("?column?", "n", "?column?"))
    (('name', 'value'), ('column 1', 'n', 'column 3'))
    >>> name_columns(("COUNT(*)", 'avg(t."price")', "COUNT(DISTINCT city)", "a + b"))
    ('count', 'average price', 'count of city', 'a + b')
    >>> name_columns(("revenue", "weight_kg", "n"), ("EUR", "kg", ""))
    ('revenue (EUR)', 'weight_kg', 'n')
    """
    nameless = sum(name in NAMELESS for name in columns)
    names = tuple(
        _say_call(name)
        if name not in NAMELESS
        else "value"
        if nameless == 1
        else f"column {position}"
        for position, name in enumerate(columns, start=1)
    )
    return tuple(
        f"{name} ({unit})" if unit and read_unit(name, "") != unit else name
        for name, unit in zip_longest(names, units, fillvalue="")
    )


def _say_call(name: str) -> str:
    call = _CALL.fullmatch(name.strip())
    if call is None:
        return name
    said, what = _SAID[call["function"].lower()], (call["what"] or "*").rsplit(".", 1)[-1]
    if what == "*":
        return said
    return f"{said}{' of' if said in ('count', 'sum') else ''} {what.strip(chr(34))}"
