"""Sessions and answers in words over HTTP: real stages, a fake model."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from generation.sampling.generator import CandidateGenerator
from nl2sql.types import Turn
from tests.fakes import FakeConversations, FakeEngine, build_result, build_settings
from tests.serve_app.served import build_app, connect

SQL = "SELECT 1"
EARLIER = Turn("How many orders were placed in 2023?", "answered", SQL)
WHOLE = "How many orders were placed in 2024?"


def build_client(
    *said: list[str], sessions: FakeConversations, **settings: Any
) -> httpx.AsyncClient:
    built = build_settings(sampling={"k": 1}, **settings)
    app = build_app(
        built,
        generator=CandidateGenerator(FakeEngine(*said), built),
        results={SQL: [build_result((336,))] * 9},
        sessions=sessions,
    )
    return connect(app)


async def test_a_session_may_be_made_here_and_goes_on() -> None:
    sessions = FakeConversations()
    async with build_client([SQL], [WHOLE], [SQL], sessions=sessions) as client:
        first = {"question": EARLIER.question, "session": "new", "k": 1}
        made = (await client.post("/query", json=first)).json()
        assert len(made["session"]) == 16
        assert made["rewritten"] is None
        second = {"question": "And in 2024?", "session": made["session"], "k": 1}
        assert (await client.post("/query", json=second)).json()["rewritten"] == WHOLE
        kept = sessions.turns[made["session"]]
        assert [turn.question for turn in kept] == [EARLIER.question, WHOLE]


@pytest.mark.parametrize(
    ("body", "setting", "told"),
    [
        ({}, "rule", ("Answer: 336.", "rule")),
        ({"answer_text": "rule"}, "off", ("Answer: 336.", "rule")),
        ({"answer_text": "off"}, "rule", ("", "")),
    ],
)
async def test_who_words_the_answer_is_the_requests_choice(
    body: dict[str, Any], setting: str, told: tuple[str, str]
) -> None:
    async with build_client(
        [SQL], sessions=FakeConversations(), answer={"text": setting}
    ) as client:
        sent = {"question": "How many orders?", "k": 1, **body}
        answer = (await client.post("/query", json=sent)).json()
    assert (answer["text"], answer["text_source"]) == told
