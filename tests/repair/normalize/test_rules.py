"""Every rule, as the golden files of its module have it (fixtures/normalize/MODULE.sql)."""

from __future__ import annotations

import pytest

from execution.guard.guard import SqlGuard
from nl2sql.catalog import Catalog
from nl2sql.types import GuardedQuery, Principal
from repair.normalize import TEXT_RULES, TREE_RULES, normalize_dialect
from tests.fakes import FakeCatalogs
from tests.repair.normalize.goldens import GOLDENS, IDS, TABLES, Golden


@pytest.mark.parametrize("golden", GOLDENS, ids=IDS)
def test_a_query_is_rewritten_as_in_the_golden_file_and_then_stays(golden: Golden) -> None:
    made = normalize_dialect(golden.before, golden.target, tables=TABLES)
    assert made is not None
    assert made.sql == golden.after
    assert golden.rule in made.rules
    assert normalize_dialect(golden.after, golden.target, tables=TABLES) is None


def test_every_rule_has_golden_pairs() -> None:
    assert {rule.__name__ for rule in (*TEXT_RULES, *TREE_RULES)} <= {
        golden.rule for golden in GOLDENS
    }


async def test_the_guard_takes_what_the_rules_write() -> None:
    catalogs = (
        Catalog(dialect, TABLES, search_path=("main",), dialect=dialect)
        for dialect in ("postgres", "sqlite", "duckdb")
    )
    guard = SqlGuard(FakeCatalogs(*catalogs))
    for golden in GOLDENS:
        verdict = await guard.guard(golden.target, golden.after, Principal("local"))
        assert isinstance(verdict, GuardedQuery), f"{golden.rule}, {golden.title}: {verdict}"
