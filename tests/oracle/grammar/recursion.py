"""Recursive CTEs that end: a count up to a bound, and a walk along a key of a table to itself."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.oracle.grammar.names import Names
from tests.oracle.grammar.scope import Source
from tests.oracle.grammar.sources import TableShape


def write_recursion(
    rng: random.Random, name: str, tables: Sequence[TableShape], names: Names
) -> tuple[str, Source]:
    """The CTE called ``name``, and the source that it is for the rest of the query."""
    trees = [
        (shape, key)
        for shape in tables
        for key in shape.source.keys
        if key[1] == shape.source.table
    ]
    union = rng.choice(("UNION ALL", "UNION"))
    if trees and rng.random() < 0.5:
        shape, (parent, _, key) = rng.choice(trees)
        table = rng.choice(shape.spellings)
        listed = names.draw_list([key, parent, "depth"], 3) if rng.random() < 0.6 else []
        first, second, third = listed or [key, parent, "depth"]
        head = f"{name}({', '.join(listed)})" if listed else name
        alias = names.draw({name, "c"})
        text = (
            f"{head} AS (SELECT {key}, {parent}, 1 AS depth FROM {table} WHERE {parent} IS NULL"
            f" {union} SELECT c.{key}, c.{parent}, {alias}.{third} + 1"
            f" FROM {table} AS c JOIN {name} AS {alias} ON c.{parent} = {alias}.{first})"
        )
        columns = ((first, "int"), (second, "int"), (third, "int"))
        return text, Source(name, columns, (key, parent, "depth") if listed else ())
    if rng.random() < 0.7:
        column, other = names.draw_list(["", ""], 2)
        text = (
            f"{name}({column}, {other}) AS (SELECT 1, 'a' {union}"
            f" SELECT {column} + 1, {other} FROM {name} WHERE {column} < {rng.randint(2, 9)})"
        )
        return text, Source(name, ((column, "int"), (other, "text")))
    text = (
        f"{name} AS (SELECT 1 AS i, 2 AS k {union}"
        f" SELECT {name}.i + 1, {name}.k FROM {name} WHERE i < {rng.randint(2, 9)})"
    )
    return text, Source(name, (("i", "int"), ("k", "int")))
