"""The demo's examples: each runs, finds something, and is none of the questions measured."""

from __future__ import annotations

import json
from pathlib import Path

from data.demo_erp import EXAMPLES, QUESTIONS
from nl2sql.sql.normal_form import normal_form
from retrieval.examples.pairs import read_pairs
from retrieval.index_store.example_store import fold_question
from serve_app.composition.examples import open_examples, seed_demo_examples
from serve_app.composition.wiring import Wiring
from serve_app.reporting import SilentReporter
from tests.data.test_business_questions import run_golds

PAIRS = read_pairs(Path(str(EXAMPLES)))
MEASURED = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]


def test_none_is_a_question_that_is_measured() -> None:
    questions = {fold_question(example["question"]) for example in MEASURED}
    queries = {normal_form(example["query"]) for example in MEASURED}
    assert not questions & {fold_question(pair.question) for pair in PAIRS}
    assert not queries & {normal_form(pair.sql) for pair in PAIRS}
    assert 10 <= len(PAIRS) <= 15
    # They are for everybody.
    assert {pair.roles for pair in PAIRS} == {()}


async def test_each_gives_rows_through_the_guard(wiring: Wiring) -> None:
    pairs = [{"id": pair.question, "query": [pair.sql]} for pair in PAIRS]
    assert await run_golds(wiring, "demo_erp", pairs, 1) == set()


async def test_they_are_seeded_where_there_are_none(wiring: Wiring) -> None:
    databases = ("demo_erp",)
    await seed_demo_examples(wiring, databases, SilentReporter())
    async with open_examples(wiring) as examples:
        found = await examples.list_examples("demo_erp")
        assert len(found) == len(PAIRS)
        assert all(example.tables for example in found)
        removed = found[0].id
        await examples.remove("demo_erp", [removed])
    await seed_demo_examples(wiring, databases, SilentReporter())
    async with open_examples(wiring) as examples:
        left = await examples.list_examples("demo_erp")
        assert removed not in {example.id for example in left}
        await examples.remove("demo_erp", [example.id for example in left])
