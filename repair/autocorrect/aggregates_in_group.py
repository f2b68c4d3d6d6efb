"""Aggregates in GROUP BY."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.aggregates import has_aggregate
from repair.autocorrect.levels import Level, read_levels
from repair.autocorrect.table_lookup import TableLookup


def aggregates_in_group(tree: exp.Expr, visible: TableLookup) -> bool:
    """Removes the sum from ``GROUP BY name, SUM(total)``, also if written as alias or number."""
    changed = False
    for level in read_levels(tree, visible):
        group = level.select.args.get("group")
        if group is None:
            continue
        kept = [
            expression for expression in group.expressions if not _aggregates(expression, level)
        ]
        if len(kept) < len(group.expressions):
            group.set("expressions", kept)
            if not kept:
                level.select.set("group", None)
            changed = True
    return changed


def _aggregates(item: exp.Expr, level: Level) -> bool:
    outputs = level.select.expressions
    if isinstance(item, exp.Literal) and not item.is_string and item.name.isdigit():
        number = int(item.name)
        return 0 < number <= len(outputs) and has_aggregate(outputs[number - 1])
    if isinstance(item, exp.Column) and item.args.get("table") is None:
        output = level.outputs.get(level.visible.spell(item.this))
        return output is not None and has_aggregate(output)
    return has_aggregate(item)
