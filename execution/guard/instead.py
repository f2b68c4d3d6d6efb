"""What to write instead of constructs that no query may contain, by the node that sqlglot reads."""

from __future__ import annotations

_LISTS = "Unnest the list in a subquery, and compute with its elements there."
_INSTEAD = {
    "Comprehension": _LISTS,
    "Describe": "The tables' descriptions tell their columns.",
    "Lambda": _LISTS,
    "Pivot": "Write one aggregate for each column: count(*) FILTER (WHERE m = 'a') AS a.",
    "PositionalColumn": "Write the column's name, or its number without # in ORDER BY.",
    "Summarize": "Write the aggregates: min(x), max(x), count(x).",
    "TableSample": "Write ORDER BY and LIMIT: which rows a sample holds depends on all rows.",
}


def describe_refusal(kind: str, refusal: str) -> str:
    """The refusal of a node of this kind, with what to write instead if that is known.

    >>> describe_refusal("Summarize", "Only a query may run, this is Summarize.")
    'Only a query may run, this is Summarize. Write the aggregates: min(x), max(x), count(x).'
    """
    return f"{refusal} {_INSTEAD[kind]}" if kind in _INSTEAD else refusal
