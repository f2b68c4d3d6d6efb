"""Examples made from the keys of the tables that a prompt shows.

A small model copies what it sees: how this database names, joins, counts and sets apart. These
questions hold no value of a cell, so that every model may see them. What they gain:
docs/lab/answers.md#candidates-and-prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generation.conversation.suggestions import say_name
from nl2sql.catalog import ForeignKey, Table, find_labels
from nl2sql.sql.names import quote_name
from nl2sql.types import FewShot, Plan, SchemaContext


def make_examples(context: SchemaContext, plan: Plan) -> tuple[FewShot, ...]:
    """At most three, over the keys of ``plan`` first: counted, without any, and with the most.

    Only keys of one column between two tables that are shown.
    """
    shown = {
        hit.table.qualified: (hit.table, name)
        for hit, name in zip(context.tables, context.names, strict=True)
    }
    joins = [
        _build_join(key, shown, context.dialect)
        for key in dict.fromkeys((*plan.joins.keys, *context.foreign_keys))
        if len(key.columns) == 1
        and key.table != key.target
        and {key.table, key.target} <= shown.keys()
    ][:2]
    made = [_count_each(joins[0]), _find_without(joins[0])] if joins else []
    return (*made, *map(_find_most, joins[1:]))


@dataclass(frozen=True, slots=True)
class _Join:
    """``child.column`` refers to ``parent.target``: names as SQL, and as words in ``…_says``.

    ``label`` is the column by which people know the parents.
    """

    child: str
    parent: str
    child_says: str
    parent_says: str
    column: str
    target: str
    label: str

    @property
    def clauses(self) -> str:
        """FROM, parent first, and the grouping by parent."""
        groups = ", ".join(f"T1.{name}" for name in dict.fromkeys((self.target, self.label)))
        return (
            f"FROM {self.parent} AS T1 JOIN {self.child} AS T2 ON T1.{self.target} = "
            f"T2.{self.column} GROUP BY {groups}"
        )


def _build_join(key: ForeignKey, shown: Mapping[str, tuple[Table, str]], dialect: str) -> _Join:
    (child, child_name), (parent, parent_name) = shown[key.table], shown[key.target]

    def quote(name: str) -> str:
        return quote_name(name, dialect)

    labels = find_labels(parent)
    return _Join(
        child=child_name,
        parent=parent_name,
        child_says=say_name(child.name, plural=True),
        parent_says=say_name(parent.name, plural=False),
        column=quote(key.columns[0]),
        target=quote(key.target_columns[0]),
        label=quote(labels[0] if len(labels) == 1 else key.target_columns[0]),
    )


def _count_each(join: _Join) -> FewShot:
    return FewShot(
        f"How many {join.child_says} does each {join.parent_says} have?",
        f"SELECT T1.{join.label}, COUNT(*) {join.clauses}",
    )


def _find_without(join: _Join) -> FewShot:
    return FewShot(
        f"Which {join.parent_says} has no {join.child_says}?",
        f"SELECT {join.label} FROM {join.parent} WHERE {join.target} NOT IN (SELECT {join.column} "
        f"FROM {join.child} WHERE {join.column} IS NOT NULL)",
    )


def _find_most(join: _Join) -> FewShot:
    return FewShot(
        f"Which {join.parent_says} has the most {join.child_says}?",
        f"SELECT T1.{join.label} {join.clauses} ORDER BY COUNT(*) DESC LIMIT 1",
    )
