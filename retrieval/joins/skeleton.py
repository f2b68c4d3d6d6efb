"""Writes joins as ``FROM … JOIN … ON …``, with roles as aliases if a table occurs twice."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nl2sql.catalog import ForeignKey
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.types import JoinPath
from retrieval.joins.roles import name_role


@dataclass(frozen=True, slots=True)
class _Step:
    """One JOIN. ``source`` and ``target`` are the SQL names on the two sides of the key."""

    table: str
    alias: str
    key: ForeignKey
    source: str
    target: str


def write_path(
    start: str,
    keys: Sequence[ForeignKey],
    roles: Collection[ForeignKey],
    names: Mapping[str, str],
    dialect: str,
) -> JoinPath:
    """The path from ``start`` over ``keys``, which are connected, and over ``roles``.

    A role is a key whose target is joined once more, under an alias. ``names`` maps tables to their
    SQL names.
    """
    twice = Counter((key.table, key.target) for key in (*keys, *roles))
    taken = {fold_name(name, dialect) for name in names.values()}
    steps: list[_Step] = []
    labels = {start: names[start]}
    queue = deque([start])
    waiting = list(keys)

    def alias(key: ForeignKey) -> str:
        return quote_name(_choose_alias(name_role(key), taken, dialect), dialect)

    while queue:
        near = queue.popleft()
        for key in [key for key in waiting if near in (key.table, key.target)]:
            waiting.remove(key)
            far = key.target if near == key.table else key.table
            # An alias is needed if another key joins the same table once more.
            needs_role = far == key.target and twice[key.table, key.target] > 1
            short = alias(key) if needs_role else ""
            labels[far] = short or names[far]
            steps.append(_Step(far, short, key, labels[key.table], labels[key.target]))
            queue.append(far)
    for key in roles:
        if key.table in labels:
            short = alias(key)
            steps.append(_Step(key.target, short, key, labels[key.table], short))
    return JoinPath(
        (start, *(step.table for step in steps)),
        tuple(step.key for step in steps),
        "\n".join([f"FROM {names[start]}", *(_render(step, names, dialect) for step in steps)]),
    )


def _choose_alias(role: str, taken: set[str], dialect: str) -> str:
    """The role, with a number appended if it is the name of a table or of another role."""
    number = 1
    chosen = role
    while fold_name(chosen, dialect) in taken:
        number += 1
        chosen = f"{role}_{number}"
    taken.add(fold_name(chosen, dialect))
    return chosen


def _render(step: _Step, names: Mapping[str, str], dialect: str) -> str:
    condition = " AND ".join(
        f"{step.source}.{quote_name(mine, dialect)} = {step.target}.{quote_name(theirs, dialect)}"
        for mine, theirs in zip(step.key.columns, step.key.target_columns, strict=True)
    )
    table = f"{names[step.table]} AS {step.alias}" if step.alias else names[step.table]
    return f"JOIN {table} ON {condition}"
