"""Text in a condition that differs from a stored value in case only."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.levels import Level, read_levels
from repair.autocorrect.table_lookup import TableLookup


def stored_values(tree: exp.Expr, visible: TableLookup) -> bool:
    """``country = 'germany'`` → ``'Germany'``, if that stored value was found in the question.

    Only values that were found for this question are used, so none is shown that the principal may
    not see.
    """
    changed = False
    for level in read_levels(tree, visible):
        for column in level.columns:
            for literal in _list_literals(column):
                stored = _find_stored(column, literal.name, level)
                if stored and stored != literal.name:
                    literal.replace(exp.Literal.string(stored))
                    changed = True
    return changed


def _list_literals(column: exp.Column) -> list[exp.Literal]:
    """The texts that the column is compared with for equality."""
    comparison = column.parent
    if isinstance(comparison, exp.EQ | exp.NEQ):
        sides = [comparison.right if comparison.left is column else comparison.left]
    elif isinstance(comparison, exp.In) and comparison.this is column:
        sides = comparison.expressions
    else:
        return []
    return [side for side in sides if isinstance(side, exp.Literal) and side.is_string]


def _find_stored(column: exp.Column, text: str, level: Level) -> str:
    """The only stored value that differs from the text in case only; empty if there is none."""
    visible = level.visible
    name, qualifier = visible.spell(column.this), column.args.get("table")
    owner = level.find_source(visible.spell(qualifier)) if qualifier is not None else None
    owners = level.find_owners(name) if qualifier is None else [owner]
    if len(owners) != 1 or owners[0] is None or owners[0].table is None:
        return ""
    table = owners[0].table
    values = {
        match.value
        for match in visible.values
        if match.table == table.qualified and visible.fold(match.column) == name
    }
    same = [value for value in values if value.casefold() == text.casefold()]
    return same[0] if len(same) == 1 else ""
