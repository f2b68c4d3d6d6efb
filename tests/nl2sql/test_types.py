"""Every type of the pipeline survives pickle; what a type says of itself."""

from __future__ import annotations

import dataclasses
import pickle
from datetime import UTC, datetime

import pytest

from nl2sql import answers, types
from tests.fakes import CUSTOMERS, ORDERS, SHOP, build_assessment, build_context, build_result

LIMITS = types.UsageLimits(60, 2, None, 0)
ACCESS = types.Entitlement("key_1", ("shop",), LIMITS)
PRINCIPAL = types.Principal("ann", ("sales",), (("region", "EU"), ("ids", (1, 2))), ACCESS)
SESSION = types.SessionIdentity("quorumsql_shop_sales", (("quorumsql.region", "EU"),))
QUESTION = types.Question("How many?", "shop", PRINCIPAL, k=4, seed=1, max_rows=10)
ROUTE = types.ModuleRoute(("sales",), "keywords", (0.9,))
HIT = types.RetrievedTable(CUSTOMERS, 0.5, cosine_rank=1, bm25_rank=2, cosine=0.7)
CONTEXT = build_context()
LINK = types.SchemaLink("order", "sales.orders", "id", 1.0)
VALUE = types.ValueMatch("germany", "sales.customers", "country", "Germany", 1.0)
DEFINITION = types.Definition(
    "measure",
    "revenue",
    "turnover",
    "sum(a.b)",
    "a.c = 1",
    ("s.a",),
    ("s.a.b", "s.a.c"),
    "SELECT 1",
)
ENTRY = types.TableEntry("sales.orders", "Orders", "purchases", 6, "buying", "sales")
COLUMN = types.ColumnDetails(ORDERS.columns[0], values=("1",), has_more_values=True)
NEIGHBOUR = types.Neighbour("sales.customers", "customer_id = id", "out")
SHOT = types.FewShot("How many orders?", "SELECT count(*) FROM orders", 0.8)
PATH = types.JoinPath(("sales.orders",), SHOP.foreign_keys[:1], "FROM orders")
PLAN = types.Plan(
    types.SchemaLinks((LINK,)),
    types.JoinPlan(("sales.orders",), SHOP.foreign_keys[:1], "FROM orders"),
)
PROMPT = types.Prompt("generate", (types.Message("user", "Hello"),))
RESULT = types.ResultSet(("n",), ("int8",), ((3,), (None,)), truncated=True, ms=1.5)
VERDICT = types.GuardedQuery(
    "shop",
    "SELECT 1",
    ("sales.orders",),
    ("id",),
    ("x = 1",),
    (1,),
    restricted=True,
    session=SESSION,
)
VIOLATION = types.Violation("unknown_table", "x", "There is no table x here.")
DIAGNOSTIC = types.Diagnostic("42703", "column does not exist", position=8, hint="Try id.")
SCORE = types.Score((types.ScoreTerm("base", 100.0), types.ScoreTerm("lint", -5.0)))
CANDIDATE = types.Candidate("c1r", "SELECT 1", samples=2, origin="repair", repairs="c1")
ASSESSMENT = types.Assessment(
    CANDIDATE, VERDICT, types.Explained(1.0, 2.0), None, (), RESULT, SCORE, group=0, votes=2
)
RANKING = types.Ranking((ASSESSMENT,), samples=4, confidence=0.5, quorum=True)
REPAIR = types.Repair("c1", "broken", "model", "fixed", "SELECT 1")
TRACE = answers.Trace(
    QUESTION,
    ROUTE,
    CONTEXT,
    PLAN,
    "SELECT 1",
    PROMPT,
    (("ddl", PROMPT),),
    ("s.t.c",),
    RANKING,
    (REPAIR,),
    (answers.StageTiming("plan", 1.0),),
)

EXAMPLES: tuple[object, ...] = (
    answers.Attempt("SELECT x", "sample", "There is no x."),
    PRINCIPAL,
    SESSION,
    QUESTION,
    ROUTE,
    HIT,
    CONTEXT,
    LINK,
    VALUE,
    DEFINITION,
    SHOT,
    PATH,
    PLAN.links,
    PLAN.joins,
    PLAN,
    PROMPT.messages[0],
    PROMPT,
    types.SamplingRequest(PROMPT, 4, 0, 0.7, 100, "```sql", ("```",)),
    types.Completions(("SELECT 1",), 10, 2),
    CANDIDATE,
    types.Generated(PROMPT, (CANDIDATE,), 10, 2, prompts=(("ddl", PROMPT),)),
    types.DraftQuery("SELECT 1", 10, 2),
    types.Progress("generate", 1, 4, 100, 100, 30),
    types.CandidateAssessed(ASSESSMENT),
    types.VoteCounted(RANKING),
    types.RepairTried(REPAIR),
    types.RowsFetched("SELECT 1", RESULT),
    VERDICT,
    VIOLATION,
    DIAGNOSTIC,
    types.Explained(1.0, 2.0),
    types.Feedback("shop", "How many?", "SELECT 1", False, PRINCIPAL, "SELECT 2"),
    types.FeedbackReceipt("stored", "0123456789abcdef"),
    types.CatalogQuery("SELECT 1", "Only 1 of 2 tables are listed."),
    types.VerifiedQuery("SELECT 1", "mia", datetime(2026, 3, 1, tzinfo=UTC), "feedback"),
    RESULT,
    types.Finding("select_star", "warning", "All columns are selected."),
    SCORE.terms[0],
    SCORE,
    ASSESSMENT,
    types.Display((0,), (1,), (), 2),
    RANKING,
    REPAIR,
    TRACE.timings[0],
    TRACE,
    answers.Answered("SELECT 1", RESULT, 0.5, True, TRACE),
    answers.Refused("off_topic", "No.", TRACE),
    answers.Clarify("Which?", 0.2, (types.Interpretation("SELECT 1", "shows 1.", 0.5),), TRACE),
    types.Interpretation("SELECT 1", "shows 1.", 0.5),
    types.ExecutionLimits(50, 1024),
    answers.Failed("Nothing ran.", TRACE),
    types.Intent("off_topic", "No.", ("How many?",), "model", 10, 2),
    types.Turn("How many?", "clarify", interpretations=("SELECT 1",)),
    types.Rewriting("How many orders?", "picked", "SELECT 1"),
    types.AnswerText("Answer: 3.", "rule"),
    LIMITS,
    ACCESS,
    types.TableDescriptions((CUSTOMERS,), ("customers",)),
    ENTRY,
    types.TablePage((ENTRY,), "cursor", 2, 1),
    COLUMN,
    NEIGHBOUR,
    types.TableDetails(
        "sales.orders",
        "table",
        "Orders",
        "",
        (COLUMN,),
        ("id",),
        SHOP.foreign_keys[:1],
        (NEIGHBOUR,),
        1,
    ),
)

DATACLASSES: set[type] = {
    value
    for module in (types, answers)
    for value in vars(module).values()
    if dataclasses.is_dataclass(value)
    and isinstance(value, type)
    and value.__module__.startswith(module.__name__)
}


@pytest.mark.parametrize("value", EXAMPLES, ids=lambda value: type(value).__name__)
def test_a_value_survives_pickle(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == value


def test_a_principal_keeps_its_access_but_is_not_compared_by_it() -> None:
    assert pickle.loads(pickle.dumps(PRINCIPAL)).access == ACCESS
    assert types.Principal("ann", PRINCIPAL.roles, PRINCIPAL.attributes) == PRINCIPAL
    assert len({types.Principal("ann", PRINCIPAL.roles, PRINCIPAL.attributes), PRINCIPAL}) == 1


def test_every_type_has_an_example_above() -> None:
    assert {type(value) for value in EXAMPLES} == DATACLASSES


@pytest.mark.parametrize("kind", sorted(DATACLASSES, key=str))
def test_a_type_is_frozen_and_slotted(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(kind)


def test_the_best_cosine_is_the_highest_and_minus_one_without_any() -> None:
    far = types.RetrievedTable(ORDERS, 0.1, cosine=-0.2)
    unknown = types.RetrievedTable(ORDERS, 0.1)
    assert build_context(tables=("sales.orders",)).best_cosine == 0.5
    assert types.SchemaContext((far, HIT), (), ("orders", "customers")).best_cosine == 0.7
    assert types.SchemaContext((unknown,), (), ("orders",)).best_cosine == -1.0


def test_a_keyword_hit_is_a_table_that_keyword_search_ranked() -> None:
    unranked = types.RetrievedTable(ORDERS, 0.1, cosine_rank=1)
    assert types.SchemaContext((unranked, HIT), (), ("a", "b")).has_keyword_hit
    assert not types.SchemaContext((unranked,), (), ("a",)).has_keyword_hit


def test_a_candidate_fails_by_violation_or_diagnostic_only() -> None:
    assert build_assessment(verdict=VIOLATION).failed
    assert build_assessment(diagnostic=DIAGNOSTIC).failed
    assert not build_assessment().failed


def test_the_winner_is_the_first_with_a_result() -> None:
    without, first, second = (
        build_assessment("c1"),
        build_assessment("c2", result=build_result((1,))),
        build_assessment("c3", result=build_result((2,))),
    )
    assert types.Ranking((without, first, second)).winner is first
    assert types.Ranking((without,)).winner is None
    assert types.Ranking().winner is None


def test_a_score_is_the_sum_of_its_terms() -> None:
    assert SCORE.total == 95.0
    assert types.Score().total == 0
