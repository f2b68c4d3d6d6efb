"""Linking by the model: the techniques, their prompts, and how answers are read."""

from __future__ import annotations

import pytest

from nl2sql.errors import PromptTooLong, SettingsError
from nl2sql.types import Question, SchemaContext, SchemaLink, ValueMatch
from retrieval.linking.linker import LinkingResult, SchemaLinker, read_names
from tests.fakes import FakeEngine, build_context, build_question, build_settings
from tests.golden import load_text, render_golden

CONTEXT = build_context(tables=("sales.orders", "sales.customers"))
QUESTION = build_question(
    text="What did customers in Germany spend?", evidence="Spending is orders.total"
)


async def link(
    technique: str,
    engine: FakeEngine,
    context: SchemaContext = CONTEXT,
    question: Question = QUESTION,
) -> LinkingResult:
    settings = build_settings(retrieval={"linking": technique}).retrieval
    return await SchemaLinker(settings, engine).link(question, context)


def named(linked: LinkingResult) -> list[tuple[str, str, str]]:
    return [(link.table, link.column, link.method) for link in linked.links.links]


async def test_rules_ask_no_model() -> None:
    engine = FakeEngine()
    linked = await link("deterministic", engine)
    assert not engine.requests
    assert (linked.links.technique, linked.links.note) == ("deterministic", "")
    assert ("sales.customers", "", "name") in named(linked)


async def test_full_asks_for_the_columns_of_all_tables_at_once() -> None:
    engine = FakeEngine(["- orders.total\n- customers.country\n- weather.day"])
    linked = await link("full", engine)
    (request,) = engine.requests
    assert render_golden(request.prompt) == load_text("prompt_link_columns.txt")
    assert (request.k, request.temperature, request.stop) == (1, 0.0, ("```",))
    assert named(linked) == [
        ("sales.orders", "", "model"),
        ("sales.customers", "", "model"),
        ("sales.orders", "total", "model"),
        ("sales.customers", "country", "model"),
    ]
    assert linked.links.technique == "full"
    assert (linked.prompt_tokens, linked.completion_tokens) == (100, 10)


async def test_tcsl_asks_for_tables_and_then_for_columns_of_these_alone() -> None:
    engine = FakeEngine(["orders"], ["orders.total\ncustomers.country"])
    linked = await link("tcsl", engine)
    first, second = engine.requests
    assert render_golden(first.prompt) == load_text("prompt_link_tables.txt")
    assert "CREATE TABLE customers" not in second.prompt.messages[1].content
    assert named(linked) == [
        ("sales.orders", "", "model"),
        ("sales.orders", "total", "model"),
    ]
    assert (linked.prompt_tokens, linked.completion_tokens) == (200, 20)


async def test_scsl_scores_each_column_by_itself() -> None:
    columns = [
        (hit.table.qualified, column.name) for hit in CONTEXT.tables for column in hit.table.columns
    ]
    answers = {("sales.orders", "total"): "9", ("sales.customers", "country"): "Score: 10"}
    engine = FakeEngine(*([answers.get(column, "0")] for column in columns))
    linked = await link("scsl", engine)
    assert len(engine.requests) == len(columns)
    total = engine.requests[columns.index(("sales.orders", "total"))]
    assert render_golden(total.prompt) == load_text("prompt_link_score.txt")
    assert [(link.column, link.score) for link in linked.links.links] == [
        ("country", 1.0),
        ("total", 0.9),
    ]


@pytest.mark.parametrize(
    ("technique", "answers", "note"),
    [
        ("full", [["no idea"]], "The model named nothing that exists"),
        ("tcsl", [["weather"]], "The model named nothing that exists"),
        ("scsl", [["hm"]] * 10, "10 of 10 scores could not be read"),
        ("full", [PromptTooLong("The prompt is too long.")], "The prompt is too long."),
    ],
    ids=["full", "tcsl", "scsl", "too_long"],
)
async def test_without_an_answer_the_rules_link_and_say_so(
    technique: str, answers: list[list[str] | Exception], note: str
) -> None:
    linked = await link(technique, FakeEngine(*answers))
    assert (linked.links.technique, linked.links.note) == ("deterministic", note)
    assert ("sales.customers", "", "name") in named(linked)


async def test_values_are_linked_beside_what_the_model_named() -> None:
    match = ValueMatch("germany", "sales.customers", "country", "Germany", 1.0)
    context = build_context(tables=("sales.orders", "sales.customers"), values=(match,))
    linked = await link("full", FakeEngine(["orders.total"]), context)
    assert linked.links.links[-1] == SchemaLink(
        "germany", "sales.customers", "country", 0.95, "value"
    )


def test_a_technique_without_a_model_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="retrieval\\.linking is tcsl"):
        SchemaLinker(build_settings(retrieval={"linking": "tcsl"}).retrieval)


WHOLE = build_context()
TOTAL = ("sales.orders", "total")
TIER = ("sales.customers", "Loyalty Tier")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("orders.total\ncustomers.Loyalty Tier", [TOTAL, TIER]),
        ("- orders.total\n* `customers`.`Loyalty Tier`", [TOTAL, TIER]),
        ('1. sales.orders.total\n2) "customers"."Loyalty Tier"', [TOTAL, TIER]),
        ("ORDERS.TOTAL - the sum\nplaced_at (when)", [TOTAL, ("sales.orders", "placed_at")]),
        ('["orders.total", "customers.Loyalty Tier"]', [TOTAL, TIER]),
        ('{"columns": ["orders.total"]}', [TOTAL]),
        (
            'Sure:\n{"orders": ["total"], "employees": []}',
            [("sales.orders", ""), TOTAL, ("sales.employees", "")],
        ),
        ("orders, customers", [("sales.orders", ""), ("sales.customers", "")]),
        ("orders.total, orders.id", [TOTAL, ("sales.orders", "id")]),
        ("orders.total\norders.total", [TOTAL]),
        ("invoices.total\norders.amount\nid\nprice", []),
        ("I do not know.", []),
        ("", []),
        ("[" * 5000, []),
    ],
)
def test_names_are_read_from_any_form(text: str, named: list[tuple[str, str]]) -> None:
    assert read_names(text, WHOLE) == named
