"""The same question twice at a time over HTTP is answered once, for one principal."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest

from nl2sql.types import Generated, Question
from tests.fakes import (
    FakeConversations,
    FakeGenerator,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
)
from tests.serve_app.served import build_app, connect


class Waiting(FakeGenerator):
    """Answers when ``go`` is set; ``asked`` are the questions that came."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.asked: list[str] = []

    async def generate(self, question: Question, *_: Any, **__: Any) -> Generated:
        self.asked.append(question.text)
        await self.go.wait()
        return build_generated(build_candidate("SELECT 1"))


async def test_identical_questions_at_a_time_are_answered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    principals = {}
    for name in ("ann", "bob"):
        monkeypatch.setenv(f"{name}_TOKEN", name)
        principals[name] = {"token_env": f"{name}_TOKEN"}
    generator = Waiting()
    app = build_app(
        build_settings(identity={"principals": principals}),
        generator=generator,
        results={"SELECT 1": [build_result((1,))] * 99},
        sessions=FakeConversations(),
    )
    async with connect(app) as client:

        async def ask(question: str, who: str = "ann", **options: Any) -> httpx.Response:
            headers = {"authorization": f"Bearer {who}"}
            body = {"question": question, **options}
            return await client.post("/query", json=body, headers=headers)

        asked = [ask("Same?"), ask("Same?"), ask("Same?"), ask("Other?"), ask("Same?", k=1)]
        asked += [ask("Same?", "bob"), *(ask("Same?", session="conversation") for _ in range(2))]
        leaving, *tasks = [asyncio.create_task(each) for each in asked]
        while len(generator.asked) < 6:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)
        # The answer of another does not end with one who leaves.
        leaving.cancel()
        generator.go.set()
        responses = await asyncio.gather(*tasks)
        assert {response.json()["outcome"] for response in responses} == {"answered"}
        assert Counter(generator.asked) == {"Same?": 5, "Other?": 1}
        # Afterwards it is asked anew.
        await ask("Same?")
        assert generator.asked.count("Same?") == 6
