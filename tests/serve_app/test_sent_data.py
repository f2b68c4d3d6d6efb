"""What reaches a model under each ``model.send``: marked texts are planted wherever data could be.

Every builder of prompts is run, by a whole conversation, by the preparation of prompts, by the
baseline and by indexing. Only retrieval and the database are fakes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluation.runs.baseline import PlainBaseline
from generation.engines.checked_engine import CheckedEngine
from generation.sampling.generator import CandidateGenerator
from nl2sql.answers import Answered
from nl2sql.catalog import Catalog
from nl2sql.errors import PromptWithheld
from nl2sql.protocols import Engine
from nl2sql.types import (
    Completions,
    Contents,
    Diagnostic,
    ExecutionLimits,
    Explained,
    FewShot,
    GuardedQuery,
    Message,
    Prompt,
    ResultSet,
    SamplingRequest,
    SchemaContext,
    Turn,
    ValueMatch,
)
from repair.repairer import CandidateRepairer
from retrieval.planner import SchemaPlanner
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.settings import Settings
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeConversations,
    FakeGuard,
    FakeRetriever,
    build_context,
    build_question,
    build_settings,
    build_table,
    count_fake_tokens,
)

# Each stands in one place; the names say which.
VALUES = (
    *("in_a_type", "in_an_enumeration", "in_a_match"),
    *("in_an_example", "in_an_examples_question", "in_an_error", "in_a_hint"),
    *("in_a_candidate", "in_an_earlier_query"),
)
ROWS = ("in_a_row",)
# Written by the user, so part of the question; and a comment of the schema.
ALWAYS = ("asked", "asked_before", "in_the_evidence", "when the order came in")

PURPOSES = {"follow_up", "generate", "repair", "plain"}
BROKEN = "SELECT total::int FROM orders WHERE status = 'in_a_candidate'"
SOUND = "SELECT id, status FROM orders"
ANSWERS = {
    "follow_up": "How many orders were placed in 2024, asked?",
    "generate": BROKEN,
    "repair": SOUND,
    "plain": SOUND,
    "answer": "There are three orders.",
}


class RecordingEngine:
    """An engine of a server: remembers every text that it is given."""

    def __init__(self) -> None:
        self.requests: list[SamplingRequest] = []
        self.counted: list[str] = []

    async def sample(self, request: SamplingRequest) -> Completions:
        self.requests.append(request)
        return Completions((ANSWERS[request.prompt.purpose],) * request.k, 1, 1)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        self.counted += texts
        return count_fake_tokens(texts)

    def read(self) -> str:
        """All that was sent."""
        return "\n".join([*map(repr, self.requests), *self.counted])

    def purposes(self) -> set[str]:
        return {request.prompt.purpose for request in self.requests}


class Database:
    """Runs all queries but ``BROKEN``, whose error quotes values."""

    async def explain(
        self, query: GuardedQuery, *, identify: bool = False
    ) -> Explained | Diagnostic:
        if query.sql == BROKEN:
            return Diagnostic("22P02", "invalid input: in_an_error", hint="Perhaps in_a_hint.")
        return Explained(10.0, 3.0)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        rows = tuple((number, f"{number} in_a_row") for number in range(3))
        return ResultSet(("id", "status"), ("int4", "text"), rows, False, 1.0)


MOODS = build_table(
    "sales.moods",
    "id integer",
    "mood ENUM('in_a_type','x')",
    key=("id",),
)
CATALOG = Catalog("shop", (*SHOP.tables, MOODS), SHOP.foreign_keys, search_path=SHOP.search_path)


def plant() -> SchemaContext:
    return build_context(
        CATALOG,
        catalog_tables=90,
        glosses=(
            ("sales.orders.total", "also called revenue"),
            ("sales.orders.status", "values: 'in_an_enumeration', 'shipped'"),
        ),
        values=(ValueMatch("orders", "sales.orders", "status", "in_a_match", 0.9),),
        examples=(
            FewShot("How many in_an_examples_question?", "SELECT 'in_an_example' FROM orders"),
        ),
    )


def settle(sends: Contents) -> Settings:
    model = {
        "engine": "openai",
        "name": "m",
        "base_url": "https://models.example.com/v1",
        # So small that tokens are counted.
        "max_model_len": 1500,
        "send": sends,
    }
    return build_settings(
        model=model,
        flags={"pre_sql": True, "model_repair": True, "glosses": True},
    )


async def run_all(engine: Engine, sends: Contents) -> Answered:
    """Everything that asks the model; the answer of the conversation's last question."""
    settings = settle(sends)
    wiring = Wiring(settings)
    context, guard, database = plant(), FakeGuard(), Database()
    unused: Any = None
    conversations: Any = FakeConversations(
        Turn(
            "How many orders were placed in 2023, asked_before?",
            "answered",
            "SELECT count(*) FROM orders WHERE status = 'in_an_earlier_query'",
        )
    )
    stages = CpuStages(
        FakeRetriever(context, context),
        unused,
        unused,
        conversations,
        SchemaPlanner(settings.flags),
        guard,
        database,
        wiring.build_ranker(guard, database),
        CandidateRepairer(engine, settings),
        {},
    )
    pipeline = stages.build_pipeline(settings, engine)
    question = build_question(
        text="And in 2024, asked?",
        evidence="in_the_evidence",
        session="s",
        k=2,
        answer_text="model",
    )
    answer = await pipeline.answer(question)
    alone = replace(question, session="")
    await CandidateGenerator(engine, settings).prepare(context)
    catalogs = FakeCatalogs(CATALOG)
    baseline = PlainBaseline(
        engine, catalogs, guard, database, settings.sampling, settings.model.sends
    )
    await baseline.answer(alone)
    assert isinstance(answer, Answered), answer
    return answer


async def send(sends: Contents) -> tuple[RecordingEngine, Answered]:
    engine = RecordingEngine()
    opened: Any = engine
    checked = engine if sends == "rows" else CheckedEngine(opened, sends)
    return engine, await run_all(checked, sends)


def find(marks: tuple[str, ...], text: str) -> set[str]:
    return {mark for mark in marks if mark in text}


async def test_under_schema_no_data_is_sent() -> None:
    engine, answer = await send("schema")
    assert engine.purposes() == PURPOSES
    assert find((*VALUES, *ROWS), engine.read()) == set()
    assert find(ALWAYS, engine.read()) == set(ALWAYS)
    assert engine.counted == []
    # The answer is put into words nevertheless, by rule.
    assert (answer.sql, answer.text_source) == (SOUND, "rule")


async def test_under_values_no_row_is_sent() -> None:
    engine, answer = await send("values")
    assert engine.purposes() == PURPOSES
    assert find(VALUES, engine.read()) == set(VALUES)
    assert find(ROWS, engine.read()) == set()
    assert engine.counted != []
    assert answer.text_source == "rule"


async def test_under_rows_everything_is_sent() -> None:
    engine, _ = await send("rows")
    assert engine.purposes() == {*PURPOSES, "answer"}
    assert find((*VALUES, *ROWS), engine.read()) == {*VALUES, *ROWS}


@pytest.mark.parametrize("allowed", ["schema", "values"])
async def test_what_a_builder_does_not_take_out_is_refused_before_it_is_sent(
    allowed: Contents,
) -> None:
    """The builders believe that everything may be sent; the engine's check alone holds it back."""
    engine: Any = RecordingEngine()
    with pytest.raises(PromptWithheld, match=f"model.send is {allowed}"):
        await run_all(CheckedEngine(engine, allowed), "rows")
    withheld = (*VALUES, *ROWS) if allowed == "schema" else ROWS
    assert find(withheld, engine.read()) == set()


def build_model(**model: Any) -> dict[str, Any]:
    return {"engine": "openai", "name": "m", **model}


@pytest.mark.parametrize(
    ("model", "sends"),
    [
        ({}, "rows"),
        ({"send": "schema"}, "schema"),
        (build_model(base_url="http://127.0.0.1:8000/v1"), "rows"),
        (build_model(base_url="http://[::1]:8000/v1"), "rows"),
        (build_model(base_url="http://vllm.models.svc.cluster.local/v1"), "rows"),
        (build_model(base_url="http://172.16.4.5/v1"), "rows"),
        (build_model(base_url="http://[fd00::7]/v1"), "rows"),
        (build_model(base_url="http://172.32.4.5/v1"), "values"),
        (build_model(base_url="http://[2001:db8::1]/v1"), "values"),
        (build_model(base_url="http://[::ffff:8.8.8.8]/v1"), "values"),
        (build_model(base_url="http://0x08080808/v1"), "values"),
        (build_model(base_url="https://local.example.com/v1"), "values"),
        (build_model(base_url="https://api.openai.com/v1", send="rows"), "rows"),
        (build_model(engine="anthropic", base_url="http://127.0.0.1:4000"), "values"),
    ],
)
def test_what_is_sent_if_the_settings_do_not_say(model: dict[str, Any], sends: str) -> None:
    assert build_settings(model=model).model.sends == sends


async def test_the_engine_is_opened_behind_the_check() -> None:
    opened = Wiring(settle("schema")).models.open_engine()
    # What its builder does not label may hold anything.
    unlabelled = Prompt("new", (Message("user", "Hello"),))
    with pytest.raises(PromptWithheld):
        await opened.sample(SamplingRequest(unlabelled, 1, 0, 0.0, 9))
    await opened.close()
