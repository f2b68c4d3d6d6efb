"""A question that is given back, and the interpretation that is chosen: over HTTP, by a command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from evaluation.runs.variants import override
from serve_app.cli.app import app
from tests.fakes import (
    FakeGenerator,
    FakeGuard,
    FakeRepairer,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
    build_violation,
)
from tests.serve_app.served import build_app, connect, serve

FIRST, SECOND = "SELECT name FROM customers WHERE id = 1", "SELECT name FROM customers"
READINGS = [
    {
        "sql": FIRST,
        "description": "where id is 1. The same in both: shows name; of customers.",
        "share": 0.5,
        "columns": [{"name": "c1", "type": "text", "heading": "c1"}],
        "rows": [["a"]],
        "truncated": False,
        "cut": [],
    },
    {
        "sql": SECOND,
        "description": "shows name; of customers.",
        "share": 0.5,
        "columns": [{"name": "c1", "type": "text", "heading": "c1"}],
        "rows": [["a"], ["b"]],
        "truncated": False,
        "cut": [],
    },
]


class Parts:
    """A service over fakes that is never sure enough, and what it asks of guard and model."""

    def __init__(self) -> None:
        self.guard = FakeGuard({"SELECT secret": build_violation("not_permitted")})
        self.generator = FakeGenerator(
            build_generated(build_candidate(FIRST), build_candidate(SECOND, id="c2"), samples=2)
        )
        self.app = build_app(
            override(build_settings(), ["ranking.min_confidence=0.9"]),
            generator=self.generator,
            guard=self.guard,
            results={
                FIRST: [build_result(("a",))] * 2,
                SECOND: [build_result(("a",), ("b",))] * 2,
            },
            repairer=FakeRepairer("", ""),
        )

    async def post(self, body: dict[str, Any]) -> httpx.Response:
        async with connect(self.app) as client:
            return await client.post("/query", json=body)


async def test_a_divided_vote_is_given_back_with_its_interpretations_in_words() -> None:
    body = (await Parts().post({"question": "Who has id 1?", "k": 2})).json()
    assert body["outcome"] == "clarify"
    assert body["interpretations"] == READINGS
    assert "Choose" in body["reason"]


async def test_the_interpretation_picked_is_guarded_and_run_and_nothing_is_sampled() -> None:
    parts = Parts()
    body = (await parts.post({"question": "Who has id 1?", "picked": SECOND, "trace": True})).json()
    assert body["outcome"] == "answered"
    assert body["sql"] == SECOND
    assert body["rows"] == [["a"], ["b"]]
    assert body["confidence"] == 1.0
    assert body["trace"]["candidates"][0]["origin"] == "picked"
    assert parts.generator.questions == []
    assert [sql for _, sql, _ in parts.guard.guarded] == [SECOND]


async def test_an_interpretation_may_be_no_longer_than_a_question() -> None:
    response = await Parts().post({"question": "Who has id 1?", "picked": "x" * 5000})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "picked"


@pytest.fixture
def url() -> Iterator[str]:
    """The service on a port of its own."""
    with serve(Parts().app) as where:
        yield where


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "quorumsql.yaml"
    databases = {"shop": {"reader": {"url": "embedded"}}}
    path.write_text(yaml.safe_dump({"home": "home", "databases": databases}))
    return path


def test_the_command_shows_the_interpretations_and_runs_the_one_that_is_picked(
    url: str, config: Path
) -> None:
    def ask(*options: str) -> tuple[int, str]:
        arguments = ["--config", str(config), "ask", "--url", url, *options]
        result = CliRunner().invoke(app, arguments)
        return result.exit_code, result.stdout or result.stderr

    code, shown = ask("Who has id 1?", "--k", "2")
    assert code == 2
    assert "Not sure" in shown
    assert "Rows: 2" in shown
    assert "where id is 1" in shown
    assert "--pick" in shown
    code, shown = ask("Who has id 1?", "--pick", SECOND, "--format", "json")
    assert code == 0
    answer = json.loads(shown)
    assert (answer["question"], answer["sql"]) == ("Who has id 1?", SECOND)
    assert ask()[0] != 0
