"""From questions of the demo to pairs that a model can be trained on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlglot import exp

from data.benchmarks.load import load_benchmark
from nl2sql.errors import SettingsError
from nl2sql.sql.parsing import parse_one
from nl2sql.types import Question
from serve_app.composition.examples import open_examples
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.operations.training_pairs import export_pairs
from serve_app.operations.variants import override
from serve_app.reporting import SilentReporter
from tests.fakes import FakeEngine, StubEngine
from tests.serve_app.cli.conftest import run, write_config


@pytest.fixture
async def demo(wiring: Wiring) -> AsyncIterator[Wiring]:
    """What the preparation stores of the demo's examples is gone after the test."""
    yield wiring
    async with open_examples(wiring) as store:
        stored = await store.list_examples("demo_erp")
        await store.remove("demo_erp", [each.id for each in stored])


async def test_pairs_are_the_prompts_of_the_pipeline_with_the_right_queries(
    demo: Wiring, tmp_path: Path
) -> None:
    wiring = demo
    loaded = load_benchmark("demo_erp", configured=wiring.settings.databases)
    chosen = replace(loaded, examples=loaded.examples[:10])
    file = tmp_path / "pairs.jsonl"
    written = await export_pairs(
        wiring.settings, chosen, file, SilentReporter(), engine=StubEngine()
    )
    pairs = {pair["id"]: pair for pair in map(json.loads, file.read_text("utf-8").splitlines())}
    assert 5 <= written == len(pairs) <= 10

    for example in chosen.examples:
        if example.id not in pairs:
            continue
        *prompt, answer = pairs[example.id]["messages"]
        assert [message["role"] for message in prompt] == ["system", "user"]
        assert answer["role"] == "assistant"
        sql = answer["content"].removeprefix("```sql\n").removesuffix("\n```")
        tables = {table.name for table in parse_one(sql, "postgres").find_all(exp.Table)}
        assert tables
        assert all(name in prompt[-1]["content"] for name in tables)
        assert sql not in prompt[-1]["content"]

    example = next(each for each in chosen.examples if each.id in pairs)
    engine = FakeEngine(("SELECT 1",))
    settings = override(wiring.settings, ["retrieval.same_question=false"])
    question = Question(
        example.question, "demo_erp", settings.identity.principal(), 1, seed=0, max_rows=5
    )
    async with open_parts(wiring, SilentReporter(), engine=engine) as parts:
        await parts.build_pipeline(settings).answer(question)
    asked = [
        {"role": message.role, "content": message.content}
        for message in engine.requests[0].prompt.messages
    ]
    assert pairs[example.id]["messages"][:-1] == asked


@pytest.mark.parametrize("measured", ["questions.jsonl", "alike.jsonl", "assistant.jsonl"])
def test_what_is_measured_is_not_exported(measured: str, tmp_path: Path) -> None:
    lines = {
        "questions.jsonl": ("shop", "How many orders are there?"),
        "alike.jsonl": ("other", "There are how many order?"),
        "assistant.jsonl": ("desk", "Who owes money?"),
    }
    for name, (database, question) in lines.items():
        line = {"id": "1", "database": database, "question": question, "query": "SELECT 1"}
        (tmp_path / name).write_text(json.dumps(line) + "\n")
    reader = {"url": "sqlite:///shop.sqlite"}
    config = write_config(
        tmp_path,
        databases={"shop": {"reader": reader}, "other": {"reader": reader}},
        assistants={"desk": {"database": "shop"}},
    )
    given = ("eval", "export-pairs", tmp_path / "questions.jsonl", "--apart-from")
    with pytest.raises(SettingsError, match="All questions of questions are also among those"):
        run(config, *given, tmp_path / measured)
