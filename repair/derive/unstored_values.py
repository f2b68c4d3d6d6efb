"""Conditions on a text that only repeats the name of a table."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.said_texts import is_said
from nl2sql.sql.nodes import find_all
from nl2sql.words import content_words, split_words
from repair.autocorrect.levels import Level
from repair.derive.original import Original, drop_condition, list_conjuncts


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
