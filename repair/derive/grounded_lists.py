"""Several stored values that the question mentions, looked up in another column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.levels import Level
from repair.derive.grounded_values import reach_column
from repair.derive.original import Original

_Compared = list[tuple[exp.Column, list[exp.Literal]]]


def grounded_lists(original: Original) -> Iterator[exp.Expr]:
    """``media.name IN ('Latin', 'Pop')`` becomes ``genre.name IN …``, where both are stored.

    Also ``= … OR = …``. ``grounded_values`` does the same for a single value.
    """
    stored: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for match in original.visible.values:
        stored[match.table, match.column][match.value.casefold()] = match.value
    tables = {table.qualified: table for table in original.visible.tables}
    for number, level in enumerate(original.levels):
        for compared in _list_compared(level):
            texts = {literal.this.casefold() for _, literals in compared for literal in literals}
            for (qualified, column), values in stored.items():
                table, name = tables.get(qualified), original.visible.fold(column)
                if len(texts) < 2 or not texts <= set(values) or table is None:
                    continue
                owner = original.find_owner(compared[0][0], level)
                is_there = original.visible.spell(compared[0][0].this) == name
                if is_there and owner is not None and owner.table is table:
                    continue
                draft = original.draft()
                found = reach_column(original, draft.tree, number, table, name)
                if found is None:
                    continue
                for asked, literals in compared:
                    draft.of(asked).replace(found.copy())
                    for literal in literals:
                        value = values[literal.this.casefold()]
                        draft.of(literal).replace(exp.Literal.string(value))
                yield draft.tree


def _list_compared(level: Level) -> list[_Compared]:
    """For each column that WHERE compares with texts, all its conditions."""
    found: dict[str, _Compared] = defaultdict(list)
    where = level.select.args.get("where")
    for node in find_all(where, exp.EQ, exp.In) if where is not None else ():
        literals = node.expressions if isinstance(node, exp.In) else [node.expression]
        is_own = node.find_ancestor(exp.Select) is level.select
        if (
            is_own
            and isinstance(node.this, exp.Column)
            and literals
            and all(map(_is_text, literals))
        ):
            found[node.this.sql().casefold()].append((node.this, literals))
    return list(found.values())


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string
