"""Reads the joins of a SELECT."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.levels import Level, Source
from repair.derive.original import Original


def find_node(select: exp.Select, source: Source) -> exp.Table | None:
    """The table in FROM or in a join that has the source's name."""
    clauses = [select.args.get("from_"), *(select.args.get("joins") or ())]
    for clause in clauses:
        node = clause.this if clause is not None else None
        if isinstance(node, exp.Table) and _is_named(node, source):
            return node
    return None


def find_join(column: exp.Column, select: exp.Select) -> exp.Join | None:
    """The join of the SELECT in whose condition the column is."""
    here: exp.Expr | None = column
    while here is not None and here is not select:
        if isinstance(here, exp.Join) and here.parent is select:
            return here
        here = here.parent
    return None


def list_pairs(
    original: Original, level: Level, join: exp.Join, source: Source
) -> dict[str, exp.Column]:
    """Folded name of a column of the source → the column of another that the join equals it to."""
    found: dict[str, exp.Column] = {}
    condition = join.args.get("on")
    for sides in list_equal_columns(condition):
        for own, other in (sides, sides[::-1]):
            is_own = original.find_owner(own, level) is source
            if is_own and original.find_owner(other, level) not in (source, None):
                found[original.visible.spell(own.this)] = other
    return found


def list_equal_columns(condition: exp.Expr | None) -> list[tuple[exp.Column, exp.Column]]:
    """The pairs of columns that a condition equals.

    >>> from nl2sql.sql.parsing import parse_one
    >>> join = parse_one("SELECT 1 FROM a JOIN b ON a.x = b.y AND b.z = 1", "sqlite")
    >>> pairs = list_equal_columns(join.args["joins"][0].args["on"])
    >>> [(left.sql(), right.sql()) for left, right in pairs]
    [('a.x', 'b.y')]
    """
    return [
        (equal.left, equal.right)
        for equal in (find_all(condition, exp.EQ) if condition is not None else ())
        if isinstance(equal.left, exp.Column) and isinstance(equal.right, exp.Column)
    ]


def _is_named(node: exp.Table, source: Source) -> bool:
    alias = node.args.get("alias")
    return (alias.this if alias is not None else node.this) is source.identifier
