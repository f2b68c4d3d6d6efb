"""Conditions that the question does not ask for, and both of two that it does."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.said_texts import is_said
from nl2sql.sql.expression_form import list_conjuncts
from nl2sql.sql.nodes import find_all
from nl2sql.words import content_words, split_words
from repair.autocorrect.levels import Level
from repair.derive.original import Original, drop_condition, has_aggregate

_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.NEQ)


def both_conditions(original: Original) -> Iterator[exp.Expr]:
    """``a OR b``, ``a AND b`` or ``x IN (1, 2)`` becomes the INTERSECT of two queries."""
    select = original.tree
    if not isinstance(select, exp.Select) or any(map(has_aggregate, select.expressions)):
        return
    where = select.args.get("where")
    if where is None or "and" not in original.question.lower().split():
        return
    for node in find_all(where, exp.Or, exp.And, exp.In):
        if node.find_ancestor(exp.Select) is not select:
            continue
        sides = _split(node)
        if sides is None:
            continue
        branches = []
        for side in sides:
            draft = original.draft()
            draft.of(node).replace(side.copy())
            for part in ("order", "limit"):
                draft.tree.set(part, None)
            branches.append(draft.tree)
        yield exp.Intersect(this=branches[0], expression=branches[1], distinct=True)


def _split(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    if isinstance(node, exp.In):
        values = node.expressions
        if len(values) != 2:
            return None
        left, right = (exp.EQ(this=node.this.copy(), expression=value.copy()) for value in values)
        return left, right
    assert isinstance(node, exp.Connector)
    sides = node.left.unnest(), node.right.unnest()
    if not all(isinstance(side, _COMPARISONS) for side in sides):
        return None
    if isinstance(node, exp.And) and sides[0].this != sides[1].this:
        return None
    return sides


def unstored_values(original: Original) -> Iterator[exp.Expr]:
    """Leaves out ``name = 'the mountains'``, if ``mountain`` is a table.

    Only if the question has these words and no such value is known of the column. What the question
    does not say, ``dropped_conditions`` leaves out.
    """
    names = {word for table in original.visible.tables for word in split_words(table.name)}
    for level in original.levels:
        clause = level.select.args.get("where")
        if clause is None:
            continue
        for condition in list_conjuncts(clause.this):
            texts = _list_texts(condition)
            if not texts or not all(
                is_said(text, original.question) and names.issuperset(content_words(text))
                for text in texts
            ):
                continue
            if _is_stored(original, level, condition, texts):
                continue
            draft = original.draft()
            if condition is clause.this:
                draft.of(level.select).set("where", None)
            else:
                drop_condition(draft.of(condition))
            yield draft.tree


def _list_texts(condition: exp.Expr) -> list[str]:
    """The texts with which the condition compares a column; none if it does something else."""
    if not isinstance(condition, exp.EQ | exp.Like | exp.In):
        return []
    literals = list(find_all(condition, exp.Literal))
    is_plain = isinstance(condition.this, exp.Column) and all(
        literal.is_string for literal in literals
    )
    return [literal.this for literal in literals] if is_plain else []


def _is_stored(original: Original, level: Level, condition: exp.Expr, texts: list[str]) -> bool:
    """True if one of the texts is a known value of the column, or its table is unknown."""
    owner = original.find_owner(condition.this, level)
    if owner is None or owner.table is None:
        return True
    name, folded = original.visible.spell(condition.this.this), {text.casefold() for text in texts}
    return any(
        match.table == owner.table.qualified
        and original.visible.fold(match.column) == name
        and match.value.casefold() in folded
        for match in original.visible.values
    )


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
