"""Each rule by its golden pairs (fixtures/autocorrect/RULE.sql), and all of them together.

A title's words in parentheses name the dialect, or say that the plan tells which key is meant.
"""

from __future__ import annotations

import pytest
import sqlglot

from repair.autocorrect import RULES, Rule, autocorrect_query
from repair.autocorrect.select_scopes import SelectScope, read_scopes
from tests.golden import FIXTURES, Pair, load_cases, load_pairs
from tests.repair.autocorrect.golden_tables import build_golden_context, build_visible_tables

PAIRS = [
    pytest.param(rule, pair, id=f"{rule.__name__}: {pair.title}")
    for rule in RULES
    for pair in load_pairs(f"autocorrect/{rule.__name__}")
]


@pytest.mark.parametrize(("rule", "pair"), PAIRS)
def test_a_rule_rewrites_as_in_its_golden_file_and_then_leaves_it_alone(
    rule: Rule, pair: Pair
) -> None:
    visible = build_visible_tables(pair.title.partition(" (")[2].removesuffix(")"))
    tree = sqlglot.parse_one(pair.before, dialect=visible.dialect)
    changed = sum(rule(scope) for scope in read_scopes(tree, visible))
    assert (tree.sql(visible.dialect) if changed else "") == pair.after
    assert changed or tree == sqlglot.parse_one(pair.before, dialect=visible.dialect)
    again = sqlglot.parse_one(pair.after or pair.before, dialect=visible.dialect)
    assert not any(rule(scope) for scope in read_scopes(again, visible))


def test_every_golden_file_has_its_rule() -> None:
    names = {path.stem for path in (FIXTURES / "autocorrect").glob("*.sql")}
    assert names == {rule.__name__ for rule in RULES}


def test_the_query_is_read_again_only_after_a_change() -> None:
    read: list[SelectScope] = []

    def look(scope: SelectScope) -> bool:
        read.append(scope)
        return False

    # The third rule changes it once.
    rules = (look, look, lambda scope: len(read) == 2)
    assert autocorrect_query("SELECT id FROM orders", build_golden_context(), rules=rules)
    # Twice in each pass: before the change, and after it.
    assert len(read) == 4
    assert (read[0] is read[1], read[1] is read[2], read[2] is read[3]) == (True, False, True)


@pytest.mark.parametrize("pair", load_pairs("rules_together"), ids=lambda pair: pair.title)
def test_rules_work_together(pair: Pair) -> None:
    made = autocorrect_query(pair.before, build_golden_context())
    assert made is not None
    assert made.sql == pair.after
    assert set(made.rules) == set(pair.title.split())


@pytest.mark.parametrize(
    ("title", "sql"),
    [*load_cases("left_alone"), ("too deep", "SELECT " + "(" * 2000 + "1" + ")" * 2000)],
    ids=lambda value: value[:60],
)
def test_what_is_right_or_cannot_be_told_is_left_alone(title: str, sql: str) -> None:
    assert autocorrect_query(sql, build_golden_context()) is None, title


def test_what_cannot_be_written_is_left_alone() -> None:
    context = build_golden_context("duckdb")
    assert autocorrect_query("SELECT DATETIME(day), contry FROM orders", context) is None
    assert autocorrect_query("SELECT DATETIME(day), country FROM orders", context) is None
