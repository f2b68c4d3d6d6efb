"""Comparisons with something else than the column holds."""

from __future__ import annotations

import re

from sqlglot import exp

from nl2sql.types import Finding
from ranking.conditions import list_texts
from ranking.query import Query

# "OPN = open, CNF = confirmed".
_CODE = re.compile(r"(?<![\w'])([A-Za-z0-9][A-Za-z0-9_-]{0,11}) = ")
_FEWEST = 2


def unlisted_code(query: Query) -> Finding | None:
    """An error for a text compared by = or IN with a column whose comment lists other codes."""
    for use, text in list_texts(query):
        codes = list(dict.fromkeys(_CODE.findall(use.column.comment)))
        if len(codes) >= _FEWEST and text not in codes:
            listed = f"{', '.join(codes[:-1])} and {codes[-1]}"
            written = exp.Literal.string(text).sql()
            message = f"{use.table.name}.{use.column.name} has the codes {listed}, not {written}."
            return Finding("unlisted_code", "error", message)
    return None
