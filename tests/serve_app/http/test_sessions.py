"""Sessions, answers in words and polite refusals over HTTP: real stages, a fake model."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from generation.sampling.generator import CandidateGenerator
from nl2sql.types import ResultSet, Turn
from tests.fakes import FakeEngine, FakeSessions, build_result, build_settings
from tests.serve_app.served import build_app, connect

SQL = "SELECT 1"
EARLIER = Turn("How many orders were placed in 2023?", "answered", SQL)
WHOLE = "How many orders were placed in 2024?"


def build_client(
    *said: list[str],
    result: ResultSet | None = None,
    sessions: FakeSessions | None = None,
    **settings: Any,
) -> httpx.AsyncClient:
    built = build_settings(sampling={"k": 1}, **settings)
    app = build_app(
        built,
        generator=CandidateGenerator(FakeEngine(*said), built),
        results={SQL: [result or build_result((336,))] * 9},
        sessions=sessions or FakeSessions(EARLIER),
    )
    return connect(app)


async def post(body: dict[str, Any], *said: list[str], **options: Any) -> httpx.Response:
    async with build_client(*said, **options) as client:
        return await client.post("/query", json={"k": 1, **body})


async def test_a_follow_up_shows_what_it_was_understood_as() -> None:
    body = {"question": "And in 2024?", "session": "s", "trace": True}
    answer = (await post(body, [WHOLE], [SQL])).json()
    assert (answer["question"], answer["rewritten"]) == ("And in 2024?", WHOLE)
    assert (answer["session"], answer["notes"]) == ("s", [])
    assert answer["trace"]["rewriting"] == "model"
    assert answer["trace"]["stages"][0]["stage"] == "rewrite"


async def test_a_session_may_be_made_here_and_goes_on() -> None:
    sessions = FakeSessions()
    async with build_client([SQL], [WHOLE], [SQL], sessions=sessions) as client:
        first = {"question": EARLIER.question, "session": "new", "k": 1}
        made = (await client.post("/query", json=first)).json()
        assert len(made["session"]) == 16
        assert made["rewritten"] is None
        second = {"question": "And in 2024?", "session": made["session"], "k": 1}
        assert (await client.post("/query", json=second)).json()["rewritten"] == WHOLE
    assert [turn.question for turn in sessions.turns[made["session"]]] == [EARLIER.question, WHOLE]


@pytest.mark.parametrize(
    ("body", "setting", "told"),
    [
        ({}, "off", ("", "")),
        ({}, "rule", ("Answer: 336.", "rule")),
        ({"answer_text": "rule"}, "off", ("Answer: 336.", "rule")),
        ({"answer_text": "off"}, "rule", ("", "")),
        ({"answer_text": "model"}, "off", ("Answer: 336.", "rule")),
    ],
)
async def test_who_words_the_answer_is_the_requests_choice(
    body: dict[str, Any], setting: str, told: tuple[str, str]
) -> None:
    response = await post({"question": "How many orders?", **body}, [SQL], answer={"text": setting})
    answer = response.json()
    assert (answer["text"], answer["text_source"]) == told


# -- forgetting ------------------------------------------------------------------------------------


async def test_a_session_is_forgotten() -> None:
    sessions = FakeSessions(EARLIER)
    async with build_client(sessions=sessions) as client:
        assert (await client.delete("/sessions/s")).json() == {"session": "s", "turns": 1}
        assert (await client.delete("/sessions/s")).json() == {"session": "s", "turns": 0}
        assert (await client.delete("/sessions/a%20b")).status_code == 422
    assert sessions.turns == {}
