"""Names of outputs in clauses that are computed before the outputs are."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.levels import find_clause, list_faults, read_levels
from repair.autocorrect.sight import Sight


def aliases_in_conditions(tree: exp.Expr, sight: Sight) -> bool:
    """``HAVING n > 2`` becomes ``HAVING COUNT(*) > 2`` where ``n`` is the name of that output."""
    changed = False
    for level in read_levels(tree, sight):
        for column, name in list_faults(level, "column"):
            output = level.outputs.get(name)
            if output is None or find_clause(column) not in ("where", "having"):
                continue
            whole = output.copy()
            column.replace(exp.paren(whole) if isinstance(whole, exp.Binary) else whole)
            changed = True
    return changed
