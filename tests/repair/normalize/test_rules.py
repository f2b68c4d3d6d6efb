"""Every rule, as its golden file has it (fixtures/normalize/<rule>.sql)."""

from __future__ import annotations

from collections import Counter

import pytest

from execution.guard.guard import SqlGuard
from nl2sql.catalog import Catalog
from nl2sql.types import GuardedQuery, Principal
from repair.normalize import normalize_dialect, text_rules, tree_rules
from tests.fakes import FakeCatalogs
from tests.repair.normalize.goldens import GOLDENS, IDS, Golden
from tests.repair.normalize.people import TABLES

RULES = tuple(rule.__name__ for rule in (*text_rules.RULES, *tree_rules.RULES))


@pytest.mark.parametrize("golden", GOLDENS, ids=IDS)
def test_a_query_is_rewritten_as_in_the_golden_file(golden: Golden) -> None:
    made = normalize_dialect(golden.before, golden.target, tables=TABLES)
    assert made is not None
    assert made.sql == golden.after
    assert golden.rule in made.rules or golden.stays


@pytest.mark.parametrize("golden", GOLDENS, ids=IDS)
def test_what_was_rewritten_stays(golden: Golden) -> None:
    assert normalize_dialect(golden.after, golden.target, tables=TABLES) is None


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_has_three_golden_pairs_and_says_what_it_does(rule: str) -> None:
    assert Counter(golden.rule for golden in GOLDENS)[rule] >= 3
    functions = {rule.__name__: rule for rule in (*text_rules.RULES, *tree_rules.RULES)}
    assert functions[rule].__doc__
    assert functions[rule].__module__.rpartition(".")[2] == rule


def test_no_golden_file_is_left_of_a_rule_that_went() -> None:
    assert {golden.rule for golden in GOLDENS} == set(RULES)


async def test_the_guard_takes_what_the_rules_write() -> None:
    catalogs = (
        Catalog(dialect, TABLES, search_path=("main",), dialect=dialect)
        for dialect in ("postgres", "sqlite", "duckdb")
    )
    guard = SqlGuard(FakeCatalogs(*catalogs))
    for golden in GOLDENS:
        verdict = await guard.guard(golden.target, golden.after, Principal("local"))
        assert isinstance(verdict, GuardedQuery), f"{golden.rule}, {golden.title}: {verdict}"
