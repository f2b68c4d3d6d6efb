"""What rules on trees share: finding calls by name, and writing a replacement as SQL.

A replacement is a template in the target's SQL, ``EXTRACT(YEAR FROM {x})``, into which the
arguments are inserted as SQL, in parentheses if necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts
from repair.normalize.readers import read_part, write_part

# Nodes that never need parentheses.
_ATOMS = (
    exp.Column,
    exp.Literal,
    exp.Func,
    exp.Paren,
    exp.Null,
    exp.Boolean,
    exp.Var,
    exp.Star,
    exp.Subquery,
    exp.Window,
    exp.Identifier,
    exp.DataType,
)
_TEMPORAL = frozenset({"date", "timestamp"})

Builder = Callable[[exp.Anonymous], exp.Expr | None]
Node = TypeVar("Node", bound=exp.Expr)


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


def write(template: str, facts: Facts, **parts: exp.Expr | str) -> exp.Expr:
    """The tree of the template with its parts inserted."""
    texts = {
        name: part if isinstance(part, str) else write_operand(part, facts)
        for name, part in parts.items()
    }
    return read_part(template.format(**texts), facts.target)


def write_operand(node: exp.Expr, facts: Facts) -> str:
    """The node as SQL that can be an operand of any operator."""
    text = write_part(node, facts.target)
    is_atom = isinstance(node, _ATOMS) and not isinstance(node, exp.Binary)
    return text if is_atom else f"({text})"


def as_time(node: exp.Expr, facts: Facts) -> exp.Expr:
    """The node as a date or time, with a cast if the target needs one.

    SQLite stores dates as text and needs no cast.
    """
    if facts.target == "sqlite" or facts.kind_of(node) in _TEMPORAL:
        return node
    return write("CAST({x} AS TIMESTAMP)", facts, x=node)


def as_date(node: exp.Expr, facts: Facts) -> exp.Expr:
    """The node as a day without a time."""
    if facts.kind_of(node) == "date":
        return node
    template = "DATE({x})" if facts.target == "sqlite" else "CAST({x} AS DATE)"
    return write(template, facts, x=node)


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
