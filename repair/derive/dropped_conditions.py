"""A condition that the question does not ask for."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.said_texts import is_said
from nl2sql.sql.nodes import find_all
from repair.derive.original import Original, drop_condition, list_conjuncts


def dropped_conditions(original: Original) -> Iterator[exp.Expr]:
    """Leaves out one of the conditions of WHERE or HAVING that AND connects."""
    for level in original.levels:
        for part in ("where", "having"):
            clause = level.select.args.get(part)
            if clause is None:
                continue
            for condition in list_conjuncts(clause.this):
                if _is_said(condition, original.question):
                    continue
                draft = original.draft()
                if condition is clause.this:
                    draft.of(level.select).set(part, None)
                else:
                    drop_condition(draft.of(condition))
                yield draft.tree


def _is_said(condition: exp.Expr, question: str) -> bool:
    """True if the question contains what a column is compared with."""
    literals = list(find_all(condition, exp.Literal))
    return bool(literals) and all(is_said(literal.this, question) for literal in literals)
