"""Values that two tables have in common."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import Table
from repair.derive.original import Original, name_head

_SIGNS = frozenset({"both", "common", "shared"})


def shared_values(original: Original) -> Iterator[exp.Expr]:
    """Any query for "last names used by both customers and staff" becomes ``SELECT last_name FROM
    customers INTERSECT SELECT last_name FROM staff``.

    Only if exactly two tables have all output columns and are named in the question.
    """
    visible = original.visible
    if len(original.outermost) != 1 or not original.words & _SIGNS:
        return
    outputs = [output.unalias() for output in original.outermost[0].select.expressions]
    if not all(isinstance(output, exp.Column) for output in outputs):
        return
    names = [visible.spell(output.this) for output in outputs]
    found = [
        table
        for table in visible.tables
        if name_head(table) in original.words and set(names) <= set(visible.list_columns(table))
    ]
    if len(found) == 2:
        first, second = (_select(original, table, names) for table in found)
        yield exp.Intersect(this=first, expression=second, distinct=True)


def _select(original: Original, table: Table, names: list[str]) -> exp.Select:
    visible = original.visible
    columns = visible.list_columns(table)
    outputs = [exp.Column(this=visible.build_identifier(columns[name])) for name in names]
    return exp.Select(expressions=outputs, from_=exp.From(this=visible.build_table(table)))
