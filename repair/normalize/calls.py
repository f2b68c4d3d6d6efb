"""Functions under the names of other dialects: one table of templates in the targets' SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts
from repair.normalize.readers import write

Builder = Callable[[exp.Anonymous], exp.Expr | None]
Node = TypeVar("Node", bound=exp.Expr)

_P, _S, _D = "postgres", "sqlite", "duckdb"


def _all(template: str) -> dict[str, str]:
    return dict.fromkeys((_P, _S, _D), template)


def _but(target: str, template: str) -> dict[str, str]:
    return {name: text for name, text in _all(template).items() if name != target}


_FIND = {_P: "STRPOS({y}, {x})", _S: "INSTR({y}, {x})", _D: "STRPOS({y}, {x})"}
# By the name and the number of arguments; a target that is left out has the function itself.
_TEMPLATES: dict[tuple[str, int], dict[str, str]] = {
    # Nothing and conditions.
    ("IFNULL", 2): {_P: "COALESCE({x}, {y})"},
    ("NVL", 2): _all("COALESCE({x}, {y})"),
    ("ISNULL", 2): _all("COALESCE({x}, {y})"),
    ("IIF", 3): _but(_S, "CASE WHEN {x:bare} THEN {y} ELSE {z} END"),
    # The current time.
    ("CURDATE", 0): _all("CURRENT_DATE"),
    ("CURRENT_DATE", 0): {_P: "CURRENT_DATE", _S: "CURRENT_DATE"},
    ("NOW", 0): {_S: "CURRENT_TIMESTAMP"},
    ("GETDATE", 0): _all("CURRENT_TIMESTAMP"),
    # Text.
    ("CONCAT", 2): {_S: "({x} || {y})"},
    ("CONCAT", 3): {_S: "({x} || {y} || {z})"},
    ("LEN", 1): {_P: "LENGTH({x})", _S: "LENGTH({x})"},
    ("LEFT", 2): {_S: "SUBSTR({x}, 1, {y})"},
    ("RIGHT", 2): {_S: "SUBSTR({x}, -{y})"},
    ("INSTR", 2): {_P: "STRPOS({x}, {y})"},
    ("STRPOS", 2): {_S: "INSTR({x}, {y})"},
    ("CHARINDEX", 2): _FIND,
    ("LOCATE", 2): _FIND,
    ("STRING_AGG", 2): {_S: "GROUP_CONCAT({x}, {y})"},
    # Numbers.
    ("GREATEST", 2): {_S: "MAX({x}, {y})"},
    ("LEAST", 2): {_S: "MIN({x}, {y})"},
    # Casts.
    ("DATETIME", 1): _but(_S, "CAST({x} AS TIMESTAMP)"),
    ("TO_DATE", 1): {**_all("CAST({x} AS DATE)"), _S: "DATE({x})"},
    # Days since another day than SQLite's, which is the same in differences.
    ("JULIANDAY", 1): _but(_S, "(EXTRACT(EPOCH FROM {x:time}) / 86400.0)"),
}
_TYPES = {
    **dict.fromkeys(("SIGNED", "UNSIGNED", "INT64"), "BIGINT"),
    **dict.fromkeys(("FLOAT64", "NUMBER"), "NUMERIC"),
    "STRING": "TEXT",
}


def calls(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``IFNULL``, ``CURDATE``, ``CHARINDEX``, ``LEN`` and the like by the table.

    Also the types that no target has, such as MySQL's ``SIGNED``.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        template = _TEMPLATES.get((call.name.upper(), len(args)), {}).get(facts.target)
        return write(template, facts, **dict(zip("xyz", args, strict=False))) if template else None

    changed = replace_calls(tree, {name for name, _ in _TEMPLATES}, build)
    for cast in find_all(tree, exp.Cast):
        name = cast.to.sql().upper()
        if name in _TYPES:
            cast.set("to", exp.DataType.build(_TYPES[name]))
            changed = True
    return changed


def list_calls(tree: exp.Expr, names: Iterable[str]) -> Iterator[exp.Anonymous]:
    """All calls of functions of these names, inner ones first."""
    wanted = frozenset(names)
    found = [node for node in find_all(tree, exp.Anonymous) if node.name.upper() in wanted]
    yield from reversed(found)


def list_inner_first(tree: exp.Expr, *kinds: type[Node]) -> list[Node]:
    """All nodes of these kinds, inner ones first."""
    return list(find_all(tree, *kinds))[::-1]


def replace_calls(tree: exp.Expr, names: Iterable[str], build: Builder) -> bool:
    """Replaces each call by what ``build`` returns; None leaves it as it is."""
    changed = False
    for call in list_calls(tree, names):
        if (new := build(call)) is not None:
            call.replace(new)
            changed = True
    return changed


def read_text(node: exp.Expr | None) -> str | None:
    """The text of a literal in quotes; None for anything else."""
    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None


def read_word(node: exp.Expr | None) -> str:
    """An unquoted or quoted word or a unit, in lower case; empty for anything else."""
    if isinstance(node, exp.Column) and not node.table:
        return node.name.lower()
    if isinstance(node, exp.Var | exp.Identifier):
        return str(node.this).lower()
    return (read_text(node) or "").lower()


def read_number(node: exp.Expr | None) -> int | None:
    """A whole number, with or without a minus sign, in quotes or not; None for anything else."""
    sign = 1
    if isinstance(node, exp.Neg):
        node, sign = node.this, -1
    if isinstance(node, exp.Literal) and str(node.this).lstrip("-").isdigit():
        return sign * int(str(node.this))
    return None
