"""Principals of equal and of different rights over HTTP: nobody reaches what another one has.

Everything is real but the model, which answers a question with the question itself, and the server.
Mia and max have the same rights, noa those of another department, ravi another role, ada sees all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.wiring import Wiring
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.page_service import PageService, open_page_service

EVERYBODY = ("mia", "max", "noa", "ravi", "eve", "ada")
COUNT = "SELECT count(*) FROM employees"
# What only mia can have said.
SECRET = "Zacharias"


class RecordingEngine(EchoEngine):
    """Keeps the prompts."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []

    async def sample(self, request: SamplingRequest) -> Completions:
        self.prompts.append("\n".join(message.content for message in request.prompt.messages))
        return await super().sample(request)


@pytest.fixture
def engine() -> RecordingEngine:
    return RecordingEngine()


@pytest.fixture
async def service(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, engine: RecordingEngine
) -> AsyncIterator[PageService]:
    async with open_page_service(wiring, monkeypatch, engine) as opened:
        yield opened


async def ask(service: PageService, name: str, question: str, **body: Any) -> dict[str, Any]:
    """The answer, with its trace."""
    answer = await service.ask(name, question, max_rows=1000, trace=True, **body)
    assert answer["trace"]["principal"] == name
    return answer


async def judge(service: PageService, name: str, question: str, sql: str) -> httpx.Response:
    body = {"question": question, "sql": sql, "verdict": "right"}
    return await service.send(name, "POST", "/feedback", json=body)


def read_rows(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in answer.get("rows", [])]


async def test_nobody_but_the_token_says_who_asks(service: PageService) -> None:
    body = {"question": "Who?", "chosen_sql": COUNT}
    response = await service.send("mia", "POST", "/query", json={**body, "principal": "ada"})
    assert response.status_code == 422
    own = read_rows(await ask(service, "mia", "Who?", chosen_sql=COUNT))
    headers = {"X-Principal": "ada", "X-Forwarded-User": "ada", "Cookie": "token=token of ada"}
    response = await service.send(
        "mia", "POST", "/query?principal=ada&roles=analyst", json=body, headers=headers
    )
    assert read_rows(response.json()) == own
    assert own != read_rows(await ask(service, "ada", "Who?", chosen_sql=COUNT))


# -- feedback and examples -------------------------------------------------------------------------

GIVEN = f"How many employees are called {SECRET}?"
GIVEN_SQL = f"SELECT count(*) FROM employees WHERE last_name = '{SECRET}'"


async def read_examples(service: PageService, engine: RecordingEngine, name: str) -> str:
    """What the answer and its prompts show besides the question."""
    engine.prompts.clear()
    answer = await ask(service, name, "How many employees are there?")
    return str(answer["trace"]["examples"]) + "".join(engine.prompts)


async def test_an_example_is_shown_to_equals_alone(
    service: PageService, engine: RecordingEngine
) -> None:
    assert (await judge(service, "mia", GIVEN, GIVEN_SQL)).json()["outcome"] == "stored"
    shown = {name: SECRET in await read_examples(service, engine, name) for name in EVERYBODY}
    assert shown == {name: name in ("mia", "max") for name in EVERYBODY}
