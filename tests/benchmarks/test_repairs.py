"""Damages that the repair benchmark does to right queries, and how it draws and counts them."""

from __future__ import annotations

from random import Random

import pytest
import sqlglot

from data.benchmarks.types import Example
from repair.autocorrect.table_lookup import TableLookup
from tests.benchmarks.damages import DAMAGES
from tests.benchmarks.repairs import Attempt, Harm, draw_golds, render_harm, render_healing
from tests.fakes import build_context

ORDERS = (
    "SELECT c.country, COUNT(*) FROM orders AS o JOIN customers AS c ON o.customer_id = c.id "
    "WHERE c.name = 'Ann' GROUP BY c.country HAVING COUNT(*) > 2"
)
TABLES = TableLookup(build_context())


def damage(name: str, sql: str = ORDERS, seed: int = 0) -> str | None:
    (found,) = [each for each in DAMAGES if each.__name__ == name]
    return found(sqlglot.parse_one(sql, dialect="postgres"), TABLES, Random(seed))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("wrong_table", "WHERE o.name"),
        ("wrong_alias", "T9."),
        ("lost_join_named", "FROM orders AS o WHERE customers.name"),
        ("lost_join_aliased", "FROM orders AS o WHERE c.name"),
        ("lost_join_bare", "FROM orders AS o WHERE name"),
        ("swapped_keys", "ON o.id = c.customer_id"),
        ("same_keys", "ON o.customer_id = c.customer_id"),
        ("repeated_join", "ON o.customer_id = c.id JOIN customers AS c ON o.customer_id = c.id"),
        ("grouped_aggregate", "GROUP BY c.country, COUNT(*)"),
        ("aggregate_in_where", "WHERE c.name = 'Ann' AND COUNT(*) > 2"),
        ("alias_in_having", "COUNT(*) AS n_rows"),
        ("quoted_text", 'c.name = "Ann"'),
        ("mysql_words", "`c`.`country`"),
    ],
)
def test_a_damage_hits_what_it_is_named_for(name: str, part: str) -> None:
    assert part in (damage(name) or "")


@pytest.mark.parametrize("name", [function.__name__ for function in DAMAGES])
def test_a_seed_gives_the_same_damage_again(name: str) -> None:
    assert damage(name, seed=3) == damage(name, seed=3)
    assert damage(name, "SELECT 1") in (None, "SELECT 1")


def test_golds_are_drawn_from_all_databases_in_turn() -> None:
    examples = [
        Example(f"{name}{at}", name, "?", ("SELECT 1",)) for name in "ab" for at in range(9)
    ]
    drawn = draw_golds([*examples, Example("c0", "c", "?", ("SELECT 1",))], 5, seed=1)
    assert sorted(each.database for each in drawn) == ["a", "a", "b", "b", "c"]
    assert drawn == draw_golds([*examples, Example("c0", "c", "?", ("SELECT 1",))], 5, seed=1)


def test_what_runs_anyway_is_not_counted_as_broken() -> None:
    states = ("runs", "right", "right", "kept")
    attempts = [
        Attempt(str(at), "lost_alias", state, ("r",) if state == "right" else (), "g", "d")
        for at, state in enumerate(states)
    ]
    lines = render_healing(attempts).splitlines()
    assert lines[1].split() == ["lost_alias", "1", "3", "1", "0", "0", "2", "66.7%"]
    assert lines[-1].split() == ["r", "0", "0", "2"]


def test_harm_names_what_changed() -> None:
    harm = Harm(seen=2)
    harm.changed.update(("r",))
    harm.harmed.append(("q1", ("r",), "SELECT 1", "SELECT 2"))
    text = render_harm(harm)
    assert "2 right queries, results changed: 1" in text
    assert "SELECT 2" in text
