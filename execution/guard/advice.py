"""What to write instead of a construct that the guard refuses: by sqlglot's node, and PostgreSQL's.

An advice is added to the refusal, for people and for the model that repairs the query; it decides
nothing.
"""

from __future__ import annotations

from typing import Any

import postgast
from google.protobuf.message import DecodeError

from execution.postgres.trees import list_children

_UNNEST = "Unnest the list in a subquery, and compute with its elements there."
_INSTEAD = {
    "Comprehension": _UNNEST,
    "Describe": "The tables' descriptions tell their columns.",
    "Lambda": _UNNEST,
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


# Longer texts than anybody writes are not parsed for an advice.
_LONGEST = 3000
_NO_XML = "XML is not supported."
# By the kind of a node.
_ADVICE = {
    "CTECycleClause": "Write no CYCLE: keep the keys so far in an array and stop where the next is "
    "in it.",
    "CTESearchClause": "Write no SEARCH: keep the path in an array and order by it.",
    "ColumnDef": "Write jsonb_array_elements(document) and ->> for each column.",
    "JsonArrayConstructor": "Write jsonb_build_array(…).",
    "JsonFuncExpr": "Write ->, ->> or #>>, jsonb_path_exists or jsonb_path_query_first.",
    "JsonIsPredicate": "Write a cast, ::jsonb.",
    "JsonObjectConstructor": "Write jsonb_build_object('key', value).",
    "JsonParseExpr": "Write a cast, ::jsonb.",
    "JsonScalarExpr": "Write to_jsonb(value).",
    "JsonSerializeExpr": "Write a cast, ::text.",
    "JsonTable": "Write jsonb_array_elements(document) and ->> for each column.",
    "RangeTableFunc": _NO_XML,
    "RangeTableSample": "Write ORDER BY and LIMIT: what is drawn depends on hidden rows.",
    "XmlExpr": _NO_XML,
}


def find_advice(query: str) -> str:
    """The advice for what is found first; empty if there is none or the text cannot be read."""
    if len(query) > _LONGEST:
        return ""
    try:
        pending: list[Any] = [postgast.parse(query)]
    except (postgast.PgQueryError, DecodeError, UnicodeError):
        return ""
    while pending:
        node = pending.pop()
        if advice := _advise(node):
            return advice
        pending.extend(list_children(node))
    return ""


def _advise(node: Any) -> str:
    kind = type(node).__name__
    if kind == "RangeVar" and not node.inh:
        return "Write the table without ONLY."
    if kind == "RangeFunction" and node.is_rowsfrom:
        return "Write unnest(a, b), or a join over WITH ORDINALITY, instead of ROWS FROM."
    if kind == "JoinExpr" and node.join_using_alias.aliasname:
        return "Write USING (…) without an alias."
    if kind == "A_Indirection" and any(step.HasField("string") for step in node.indirection):
        return "Write to_jsonb(value) ->> 'field' for the field of a row."
    if kind == "TypeName" and len(node.typmods) == 2 and node.names[-1].string.sval == "interval":
        return "Write the interval without a precision."
    return _ADVICE.get(kind, "")
