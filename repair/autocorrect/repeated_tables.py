"""A table that is joined again under the name that it already has."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.levels import read_levels
from repair.autocorrect.table_lookup import TableLookup


def repeated_tables(tree: exp.Expr, visible: TableLookup) -> bool:
    """Removes the second ``a`` from ``a JOIN b ON … JOIN a ON …``; its columns mean the first.

    Its condition moves to WHERE, unless it compares a column with itself.
    """
    changed = False
    for level in read_levels(tree, visible):
        select = level.select
        start = select.args.get("from_")
        seen = {_describe(start.this, visible)} if start is not None else set()
        kept = []
        for join in select.args.get("joins") or ():
            table = _describe(join.this, visible)
            if table is None or table not in seen or join.side or join.args.get("using"):
                seen.add(table)
                kept.append(join)
                continue
            condition = join.args.get("on")
            if condition is not None and not _is_tautology(condition):
                select.where(condition, copy=False)
            changed = True
        if len(kept) < len(select.args.get("joins") or ()):
            select.set("joins", kept)
    return changed


def _describe(node: exp.Expr, visible: TableLookup) -> tuple[str, str] | None:
    """The table and its alias."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return None
    alias = node.args.get("alias")
    name = visible.spell(node.this)
    return name, visible.spell(alias.this) if alias is not None else name


def _is_tautology(condition: exp.Expr) -> bool:
    return isinstance(condition, exp.EQ) and condition.left == condition.right
