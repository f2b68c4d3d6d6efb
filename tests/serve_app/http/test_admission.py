"""Too many questions at a time over HTTP; the same question twice at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from nl2sql.settings import Settings
from nl2sql.types import Generated, Question
from tests.fakes import (
    FakeGenerator,
    FakeSessions,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
)
from tests.serve_app.served import build_app, connect

TOKENS = {"ANN_TOKEN": "ann", "BOB_TOKEN": "bob"}


class Waiting(FakeGenerator):
    """Answers when ``go`` is set; ``asked`` are the questions that came."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.asked: list[str] = []
        self.cancelled = 0

    async def generate(self, question: Question, *_: Any, **__: Any) -> Generated:
        self.asked.append(question.text)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return build_generated(build_candidate("SELECT 1"))


class Asking:
    """A client of one service."""

    def __init__(self, client: httpx.AsyncClient, generator: Waiting) -> None:
        self._client = client
        self.generator = generator

    async def start(self, *questions: str, who: str = "ann", **options: Any) -> list[Any]:
        """The tasks of requests under way."""
        headers = {"authorization": f"Bearer {who}", **options.pop("headers", {})}
        tasks = [
            asyncio.create_task(
                self._client.post("/query", json={"question": question, **options}, headers=headers)
            )
            for question in questions
        ]
        await asyncio.sleep(0.2)
        return tasks

    async def finish(self, *tasks: Any) -> list[httpx.Response]:
        """Their responses, after the generator was released."""
        self.generator.go.set()
        return list(await asyncio.gather(*tasks))


@pytest.fixture
async def build(
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Callable[..., Asking]]:
    for name, token in TOKENS.items():
        monkeypatch.setenv(name, token)
    clients: list[httpx.AsyncClient] = []

    def build(**serve: Any) -> Asking:
        settings: Settings = build_settings(
            identity={
                "principals": {
                    "ann": {"token_env": "ANN_TOKEN"},
                    "bob": {"token_env": "BOB_TOKEN"},
                }
            },
            serve=serve,
        )
        generator = Waiting()
        app = build_app(
            settings,
            generator=generator,
            results={"SELECT 1": [build_result((1,))] * 99},
            sessions=FakeSessions(),
        )
        clients.append(connect(app))
        return Asking(clients[-1], generator)

    yield build
    for client in clients:
        await client.aclose()


async def test_identical_questions_at_a_time_are_answered_once(
    build: Callable[..., Asking],
) -> None:
    asking = build()
    tasks = await asking.start("Same?", "Same?", "Same?", "Other?")
    tasks += await asking.start("Same?", k=1)
    tasks += await asking.start("Same?", who="bob")
    tasks += await asking.start("Same?", "Same?", session="conversation")
    responses = await asking.finish(*tasks)
    assert {response.json()["outcome"] for response in responses} == {"answered"}
    assert Counter(asking.generator.asked) == {"Same?": 5, "Other?": 1}
    # Afterwards it is asked anew.
    await asking.finish(*await asking.start("Same?"))
    assert asking.generator.asked.count("Same?") == 6


async def test_one_who_leaves_does_not_end_the_answer_of_another(
    build: Callable[..., Asking],
) -> None:
    asking = build()
    first, second = await asking.start("Same?", "Same?")
    first.cancel()
    await asyncio.sleep(0.05)
    assert asking.generator.cancelled == 0
    (response,) = await asking.finish(second)
    assert response.json()["rows"] == [[1]]
