"""Guarded on the whole database, a query gives what it gives on the principal's own copy."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.oracle import generated_policies
from tests.oracle.benchmarks import NAMES, open_benchmark
from tests.oracle.demo import PRINCIPALS
from tests.oracle.runs import judge_generated, judge_queries, judge_subjects, list_queries
from tests.oracle.stage import PostgresStage
from tests.oracle.tally import Tally
from tests.oracle.verdicts import Guarding, Judge, Kind

BENCH = os.environ.get("QUORUMSQL_BENCH", "")

# Of some 17,000 queries (`python -m tests.oracle corpus` judges them all) so many for each of the
# principals, the gold ones always among them.
QUERIES_EACH = 250
MOST_REFUSED = 0.02
MOST_UNSETTLED = 0.01
EXAMPLES = 300

LOGISTICS = PRINCIPALS[0]


def check(tally: Tally) -> None:
    """No mismatch; few harmless queries refused, few set aside."""
    assert not tally.mismatches, tally.render()
    assert tally.refused_share < MOST_REFUSED, tally.render()
    assert tally.unsettled_share < MOST_UNSETTLED, tally.render()


def test_the_corpus_over_the_demo_erp(stage: PostgresStage) -> None:
    tally = judge_subjects(stage, PRINCIPALS, random.Random(7), most=QUERIES_EACH)
    check(tally)
    assert tally.total == QUERIES_EACH * len(PRINCIPALS) >= 2000
    # The guard had something to do: without it, these had been other results.
    assert tally.telling >= 500


def test_queries_that_hypothesis_makes_up(stage: PostgresStage) -> None:
    tally = judge_generated(stage, PRINCIPALS, examples=EXAMPLES, random_seed=7)
    assert not tally.mismatches, tally.render()
    assert tally.count(Kind.EQUAL) > EXAMPLES / 2
    assert tally.count(Kind.REFUSED) <= MOST_REFUSED * tally.total


# -- the oracle would notice -------------------------------------------------------------------


def let_pass(statement: str) -> GuardedQuery:
    return GuardedQuery("oracle_demo", statement, ())


def filter_outside(statement: str) -> GuardedQuery:
    """A wrong tenant filter: appended to the query, for the first table only."""
    return let_pass(f"{statement} OR 1 = 1 AND department_id = 18")


def refuse(statement: str) -> Violation:
    return Violation("not_a_query", "", "No.")


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
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_guard_that_does_nothing_of_use_is_found_out(
    stage: PostgresStage, guard: Guarding, statement: str, kind: Kind
) -> None:
    judge = Judge(guard, stage.full, stage.copy(LOGISTICS))
    assert judge.judge(statement).kind is kind


def test_a_result_that_depends_on_the_order_of_rows_is_set_aside(stage: PostgresStage) -> None:
    def reverse(statement: str) -> GuardedQuery:
        return let_pass("SELECT holiday_dt FROM public_holidays ORDER BY holiday_dt DESC LIMIT 1")

    judge = Judge(reverse, stage.full, stage.copy(LOGISTICS))
    statement = "SELECT holiday_dt FROM public_holidays LIMIT 1"
    assert judge.judge(statement).kind is Kind.UNSETTLED
    ordered = "SELECT holiday_dt FROM public_holidays ORDER BY holiday_dt LIMIT 1"
    assert judge.judge(ordered).kind is Kind.MISMATCH


# -- benchmarks --------------------------------------------------------------------------------


@pytest.mark.skipif(not BENCH, reason="QUORUMSQL_BENCH names no folder of benchmarks")
@pytest.mark.parametrize(("name", "most"), list(zip(NAMES, (200, 10), strict=True)))
def test_a_sample_of_a_benchmark(
    embedded_server: EmbeddedServer, stage: PostgresStage, name: str, most: int
) -> None:
    bench = open_benchmark(embedded_server, Path(BENCH), name)
    # Of spider_pg 40 schemas of 145: the copies alone take seconds each.
    principals = generated_policies.PRINCIPALS[::3]
    tally = judge_subjects(bench, principals, random.Random(7), most=most, subjects=40)
    bench.close()
    check(tally)
    assert tally.telling > tally.total / 10


def test_nothing_is_seen_without_a_role(stage: PostgresStage) -> None:
    nobody = Principal("nobody")
    subject = stage.subjects[0]
    tally = Tally()
    queries = random.Random(7).sample(list_queries(subject.catalog, subject.golds), 50)
    judge_queries(stage.judge(nobody, subject), nobody, queries, tally)
    assert tally.count(Kind.FORBIDDEN) + tally.count(Kind.REFUSED) == 50
