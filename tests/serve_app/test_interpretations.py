"""A question that is given back, and the interpretation that is chosen: over HTTP, by a command."""

from __future__ import annotations

from typing import Any

import httpx

from evaluation.runs.variants import override
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
from tests.serve_app.served import build_app, connect

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
    body = (
        await parts.post({"question": "Who has id 1?", "chosen_sql": SECOND, "trace": True})
    ).json()
    assert body["outcome"] == "answered"
    assert body["sql"] == SECOND
    assert body["rows"] == [["a"], ["b"]]
    assert body["confidence"] == 1.0
    assert body["trace"]["candidates"][0]["origin"] == "chosen"
    assert parts.generator.questions == []
    assert [sql for _, sql, _ in parts.guard.guarded] == [SECOND]
