"""What to say of a query that the guard refuses: why it cannot be read, what to write instead.

Advice is by sqlglot's node, and by PostgreSQL's. It is added to the refusal, for people and for the
model that repairs the query; it decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import postgast
from sqlglot.errors import ParseError, SqlglotError

from execution.duckdb.second_check import parse_statement as parse_duckdb
from execution.postgres.trees import parse_statement as parse_postgres
from execution.sqlite.second_check import check_syntax
from nl2sql.sql.names import DIALECT_NAMES
from nl2sql.sql.parsing import describe_parse_error
from nl2sql.types import Violation

_UNNEST = "Unnest the list in a subquery, and compute with its elements there."
_INSTEAD = {
    "Comprehension": _UNNEST,
    "Describe": "The tables' descriptions tell their columns.",
    "Lambda": _UNNEST,
    "Pivot": "Write one aggregate for each column: count(*) FILTER (WHERE m = 'a') AS a.",
    "Lock": "Leave FOR UPDATE or FOR SHARE out: a query locks no rows.",
    "Parameter": "Write the value in the place of the placeholder.",
    "Placeholder": "Write the value in the place of the placeholder.",
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


# What tells why a database does not read a text, and of what it reads something else.
_PARSERS: dict[str, Callable[[str], Any]] = {
    "postgres": parse_postgres,
    "sqlite": check_syntax,
    "duckdb": parse_duckdb,
}
# Longer texts than anybody writes are not parsed for an advice.
_LONGEST = 3000
# Other statements are none that could run, and a database may carry some out as it compiles them.
_QUERY = re.compile(r"[\s(]*(?:FROM|SELECT|VALUES|WITH)\b", re.IGNORECASE)


def describe_unreadable(sql: str, dialect: str, error: SqlglotError | RecursionError) -> str:
    """Why a text cannot be read: the database's own grammar tells whether it is SQL at all."""
    is_query = len(sql) <= _LONGEST and _QUERY.match(sql) is not None
    if is_query and isinstance(error, ParseError) and error.errors:
        # What is nested too deeply for Python may not be for the database.
        with suppress(RecursionError):
            if isinstance(own := _PARSERS[dialect](sql), Violation):
                return own.message
        place = error.errors[0]
        return (
            f"The guard cannot read it from line {place['line']}, column {place['col']} on "
            f"({place['highlight']}), though {DIALECT_NAMES[dialect]} may: write it in another way."
        )
    return f"It cannot be read: {describe_parse_error(error)}"


# Names and texts with escapes, of which PostgreSQL's tree shows only the values.
_ESCAPED = re.compile(r"\bU&[\"']", re.IGNORECASE)
_NO_XML = "XML is not supported."
# By the kind of a node.
_ADVICE = {
    "CTECycleClause": "Write no CYCLE: keep the keys so far in an array and stop where the next is "
    "in it.",
    "CTESearchClause": "Write no SEARCH: keep the path in an array and order by it.",
    "ColumnDef": "Write jsonb_array_elements(document) and ->> for each column.",
    "JsonArrayAgg": "Write jsonb_agg(value).",
    "JsonArrayConstructor": "Write jsonb_build_array(…).",
    "JsonFuncExpr": "Write ->, ->> or #>>, jsonb_path_exists or jsonb_path_query_first.",
    "JsonIsPredicate": "Write a cast, ::jsonb.",
    "JsonObjectAgg": "Write jsonb_object_agg(key, value).",
    "JsonObjectConstructor": "Write jsonb_build_object('key', value).",
    "JsonParseExpr": "Write a cast, ::jsonb.",
    "JsonScalarExpr": "Write to_jsonb(value).",
    "JsonSerializeExpr": "Write a cast, ::text.",
    "JsonTable": "Write jsonb_array_elements(document) and ->> for each column.",
    "RangeTableFunc": _NO_XML,
    "XmlExpr": _NO_XML,
}


def find_advice(query: str) -> str:
    """The advice for what is found first; empty if there is none or the text cannot be read."""
    if len(query) > _LONGEST:
        return ""
    tree = parse_postgres(query)
    if isinstance(tree, Violation):
        return ""
    if _ESCAPED.search(query):
        return "U& is not supported: write the letters themselves, or E'\\u0061' for a text."
    return next(filter(None, (_advise(node) for _, node in postgast.walk(tree))), "")


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
