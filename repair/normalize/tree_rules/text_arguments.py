"""Functions of text with arguments of other types."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import list_calls, write
from repair.normalize.facts import Facts

_CALLS = (
    "SUBSTR SUBSTRING LEFT RIGHT UPPER LOWER LENGTH CHAR_LENGTH TRIM LTRIM RTRIM REPLACE "
    "SPLIT_PART STRPOS POSITION CONTAINS STARTS_WITH"
).split()
_NODES = (exp.Substring, exp.Trim, exp.StrPosition)
_OTHERS = frozenset({"date", "timestamp", "integer", "number", "float", "boolean"})


def text_arguments(tree: exp.Expr, facts: Facts) -> bool:
    """``SUBSTR(day, 1, 4)`` becomes ``SUBSTR(CAST(day AS TEXT), 1, 4)``; SQLite casts by itself."""
    if facts.target == "sqlite":
        return False
    changed = False
    values = [call.expressions[0] for call in list_calls(tree, _CALLS) if call.expressions]
    values += [node.this for node in find_all(tree, *_NODES)]
    for value in values:
        if facts.kind_of(value) in _OTHERS:
            value.replace(write("CAST({x} AS TEXT)", facts, x=value))
            changed = True
    return changed
