"""Guarded on the whole database, a query gives what it gives on the principal's own copy.

``python -m tests.oracle corpus`` judges the whole corpus over the demo.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import postgast
import pytest

from nl2sql.types import GuardedQuery, Principal, Violation
from tests.fakes import SHOP
from tests.oracle.corpus import (
    PROBES,
    TREE_PROBES,
    WRAPPERS,
    build_gold_queries,
    build_table_queries,
    list_queries,
    mutate_query,
)
from tests.oracle.demo import PRINCIPALS
from tests.oracle.shop import PRINCIPALS as SHOP_PRINCIPALS, list_shop_queries, open_shop_file
from tests.oracle.spellings import RULES
from tests.oracle.stage import PostgresStage
from tests.oracle.tally import Tally, judge_corpus, judge_queries
from tests.oracle.verdicts import Guarding, Judge, Kind

LOGISTICS = PRINCIPALS[0]
# Queries for each principal: of the corpus over the demo, some 17,000, the golds always among them.
_FEW, _MANY = 100, 250


def check(tally: Tally, *, least_telling: int) -> None:
    """No mismatch; few harmless queries refused, few set aside.

    And the guard had something to do: without it, some had been other results.
    """
    assert not tally.mismatches, tally.render()
    assert tally.refused_share <= 0.05, tally.render()
    assert tally.unsettled_share <= 0.05, tally.render()
    assert tally.telling >= least_telling, tally.render()


@pytest.mark.parametrize(
    ("principals", "most"),
    [
        pytest.param(PRINCIPALS[:1], _FEW, marks=pytest.mark.quick, id="few"),
        pytest.param(PRINCIPALS, _MANY, id="many"),
    ],
)
def test_the_corpus_over_the_demo_erp(
    stage: PostgresStage, principals: Sequence[Principal], most: int
) -> None:
    tally = judge_corpus(stage, principals, random.Random(7), most=most)
    check(tally, least_telling=len(principals) * most // 6)
    assert tally.total == most * len(principals)
    assert tally.refused_share < 0.02, tally.render()


@pytest.mark.parametrize(
    ("dialect", "principals", "most"),
    [
        pytest.param("sqlite", SHOP_PRINCIPALS["sqlite"][:3:2], _FEW, marks=pytest.mark.quick),
        pytest.param("duckdb", SHOP_PRINCIPALS["duckdb"][:2], _FEW, marks=pytest.mark.quick),
        ("sqlite", (*SHOP_PRINCIPALS["sqlite"], Principal("owner", ("owner",))), 2 * _MANY),
    ],
    ids=["sqlite", "duckdb", "sqlite_many"],
)
def test_the_corpus_over_the_shop(
    dialect: str, principals: Sequence[Principal], most: int, tmp_path: Path
) -> None:
    rng, tally = random.Random(7), Tally()
    with open_shop_file(dialect, tmp_path) as stage:
        queries = list_shop_queries(stage.subject)
        for who in principals:
            chosen = rng.sample(queries, min(most, len(queries)))
            judge_queries(stage.judge(who), who, chosen, tally)
    check(tally, least_telling=most // 5)
    # DuckDB reads whatever the guard reads.
    assert dialect == "sqlite" or not tally.count(Kind.LENIENT), tally.render()


def test_nothing_is_seen_without_a_role(stage: PostgresStage) -> None:
    nobody, tally = Principal("nobody"), Tally()
    queries = list_queries(stage.subject.catalog, stage.subject.golds)
    judge_queries(stage.judge(nobody), nobody, random.Random(7).sample(queries, 50), tally)
    assert tally.count(Kind.FORBIDDEN) + tally.count(Kind.REFUSED) == 50


# -- the oracle would notice -------------------------------------------------------------------


def let_pass(statement: str) -> GuardedQuery:
    return GuardedQuery("oracle_demo", statement, ())


def filter_outside(statement: str) -> GuardedQuery:
    """A wrong tenant filter: appended to the query, for the first table only."""
    return let_pass(f"{statement} OR 1 = 1 AND department_id = 18")


def refuse(statement: str) -> Violation:
    return Violation("not_a_query", "", "No.")


def reverse(statement: str) -> GuardedQuery:
    """Another one of the rows that any LIMIT may give."""
    return let_pass("SELECT holiday_dt FROM public_holidays ORDER BY holiday_dt DESC LIMIT 1")


@pytest.mark.parametrize(
    ("guard", "statement", "kind"),
    [
        (let_pass, "SELECT count(*) FROM employees", Kind.MISMATCH),
        (let_pass, "SELECT sum(salary) FROM employees WHERE department_id = 18", Kind.MISMATCH),
        (let_pass, "SELECT count(*) FROM payslips", Kind.MISMATCH),
        (let_pass, "SELECT count(*) FROM regions", Kind.EQUAL),
        (let_pass, "SELECT 1 / 0", Kind.FAILED_ALIKE),
        (let_pass, "SELECT 1 / (salary - 1e9) FROM employees WHERE status = 'ACT'", Kind.MISMATCH),
        (filter_outside, "SELECT last_name FROM employees WHERE fte_pct > 1", Kind.MISMATCH),
        (refuse, "SELECT count(*) FROM employees", Kind.REFUSED),
        (refuse, "SELECT count(*) FROM payslips", Kind.FORBIDDEN),
        (reverse, "SELECT holiday_dt FROM public_holidays LIMIT 1", Kind.UNSETTLED),
        (reverse, "SELECT holiday_dt FROM public_holidays ORDER BY 1 LIMIT 1", Kind.MISMATCH),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_guard_that_does_nothing_of_use_is_found_out(
    stage: PostgresStage, guard: Guarding, statement: str, kind: Kind
) -> None:
    judge = Judge(guard, stage.full, stage.copy(LOGISTICS))
    assert judge.judge(statement).kind is kind


# -- the corpus --------------------------------------------------------------------------------

GOLD = "SELECT o.id, o.total FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"


def test_every_template_and_every_spelling_makes_queries_of_postgresql() -> None:
    queries = list_queries(SHOP, [("x", GOLD)])
    assert not [query for query in queries if len(postgast.parse(query.sql).stmts) != 1]
    kinds = {query.kind for query in mutate_query(SHOP, "x", GOLD)}
    assert kinds == set(WRAPPERS["postgres"]) | (set(RULES) - {"qualified_columns"})
    kinds = {query.kind.split("/")[0] for query in build_table_queries(SHOP)}
    assert kinds == set(PROBES["postgres"]) | set(TREE_PROBES)
    assert next(build_gold_queries(SHOP, [("x", "SELECT 1;")])).sql == "SELECT 1"
