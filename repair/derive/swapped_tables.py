"""A table that the question names, in the place of one with the same columns."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.derive.joins import find_join, find_node
from repair.derive.original import Original


def swapped_tables(original: Original) -> Iterator[exp.Expr]:
    """``SELECT first_name FROM customers`` becomes ``SELECT first_name FROM staff``.

    The question must name the other table and not the first, and the other must have all columns
    that are used.
    """
    visible = original.visible
    for level in original.levels:
        present = {table.qualified for _, table in level.list_tables()}
        for source, table in level.list_tables():
            node = find_node(level.select, source)
            if node is None or original.says(table.name):
                continue
            uses = original.uses[id(source)]
            if any(find_join(column, level.select) is not None for column in uses):
                continue
            names = {visible.spell(column.this) for column in uses}
            for other in visible.tables:
                if other.qualified in present or not names.issubset(visible.list_columns(other)):
                    continue
                if not original.says(other.name):
                    continue
                draft = original.draft()
                copy = draft.of(node)
                made = visible.build_table(other)
                alias = node.args.get("alias")
                name = alias.this.copy() if alias is not None else source.identifier.copy()
                is_qualified = any(column.args.get("table") is not None for column in uses)
                if is_qualified:
                    made.set("alias", exp.TableAlias(this=name))
                copy.replace(made)
                yield draft.tree
