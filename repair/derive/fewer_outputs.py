"""Output columns that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.derive.original import Original

_MOST_OUTPUTS = 4


def fewer_outputs(original: Original) -> Iterator[exp.Expr]:
    """Leaves out one of the outputs, in every branch of a UNION.

    Only if the question says how many it wants, and these are too many.
    """
    branches = [level.select for level in original.outermost]
    widths = {len(select.expressions) for select in branches}
    if len(widths) != 1 or not 2 <= (width := widths.pop()) <= _MOST_OUTPUTS:
        return
    if not original.expected.columns or width <= max(original.expected.columns):
        return
    for number in range(width):
        draft = original.draft()
        for select in branches:
            _leave_out(draft.of(select), number)
        yield draft.tree


def _leave_out(select: exp.Select, number: int) -> None:
    """Takes an output out; ORDER BY and HAVING, which may name it, get its expression."""
    output = select.expressions[number]
    if isinstance(output, exp.Alias):
        for part in ("order", "having"):
            clause = select.args.get(part)
            for column in list(clause.find_all(exp.Column)) if clause is not None else ():
                if not column.table and column.name.lower() == output.alias.lower():
                    column.replace(output.this.copy())
    select.expressions.pop(number)
