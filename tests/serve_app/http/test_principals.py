"""Principals of equal and of different rights over HTTP: nobody reaches what another one has.

Everything is real but the model, which answers a question with the question itself, and the server.
Mia and max have the same rights, noa those of another department, ravi another role, ada sees all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from nl2sql.types import Completions, SamplingRequest
from retrieval.index_store.example_store import ExampleStore
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.reporting import Silence
from serve_app.service.feedback import FeedbackService
from serve_app.service.query_service import QueryService
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.served import connect
from tests.serve_app.test_policy_pipeline import POLICY

MEMBER = ["department_member"]
PRINCIPALS: dict[str, dict[str, Any]] = {
    "mia": {"roles": MEMBER, "attributes": {"department_id": 31}},
    "max": {"roles": MEMBER, "attributes": {"department_id": 31}},
    "noa": {"roles": MEMBER, "attributes": {"department_id": 7}},
    "ravi": {"roles": ["regional_manager"], "attributes": {"region_ids": [1, 2]}},
    "eve": {"roles": ["nobody"]},
    "ada": {"roles": ["analyst"]},
}
EVERYBODY = tuple(PRINCIPALS)
STAFF = "SELECT employee_id, department_id FROM employees"
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


@dataclass
class Service:
    """The service, and what its model was told."""

    app: ASGIApp
    engine: RecordingEngine

    async def send(self, name: str, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer token of {name}", **options.pop("headers", {})}
        async with connect(self.app) as client:
            return await client.request(method, path, headers=headers, **options)

    async def ask(self, name: str, question: str, **body: Any) -> dict[str, Any]:
        """The answer, with its trace."""
        sent = {"question": question, "k": 1, "max_rows": 1000, "trace": True, **body}
        response = await self.send(name, "POST", "/query", json=sent)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        assert answer["trace"]["principal"] == name
        return answer

    async def judge(self, name: str, question: str, sql: str) -> httpx.Response:
        body = {"question": question, "sql": sql, "verdict": "right"}
        return await self.send(name, "POST", "/feedback", json=body)


@pytest.fixture
async def service(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Service]:
    principals = {}
    for name, each in PRINCIPALS.items():
        monkeypatch.setenv(f"{name.upper()}_TOKEN", f"token of {name}")
        principals[name] = {**each, "token_env": f"{name.upper()}_TOKEN"}
    settings = wiring.settings
    database = settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    identity = type(settings.identity).model_validate({"principals": principals})
    databases = {**settings.databases, "demo_erp": database}
    settings = settings.model_copy(update={"databases": databases, "identity": identity})
    guarded, engine = Wiring(settings, wiring.socket_folder), RecordingEngine()
    async with open_parts(guarded, Silence(), engine=engine) as parts:
        queries = QueryService(settings, parts.build_pipeline(settings), {})
        recorder = guarded.build_feedback_recorder(
            parts.store, parts.embedder, parts.guard, parts.executor
        )
        feedback = FeedbackService(settings, recorder, queries.admission)
        yield Service(build_http_app(settings, queries, feedback=feedback), engine)
        examples = ExampleStore(parts.store)
        found = await examples.list_embedded("demo_erp")
        await examples.remove("demo_erp", list(found))


def read_rows(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in answer.get("rows", [])]


async def test_a_picked_query_gives_only_ones_own_rows(service: Service) -> None:
    rows = {
        name: set(read_rows(await service.ask(name, "Who?", chosen_sql=STAFF)))
        for name in EVERYBODY
        if name != "eve"
    }
    assert rows["mia"] == rows["max"] == {row for row in rows["ada"] if row[1] == 31}
    assert rows["noa"] == {row for row in rows["ada"] if row[1] == 7}
    assert rows["mia"]
    assert rows["noa"]
    assert rows["ravi"] < rows["ada"]
    body = {"question": "Who?", "chosen_sql": STAFF, "max_rows": 1000}
    accept = {"accept": "text/csv"}
    for name, department in (("mia", "31"), ("noa", "7")):
        response = await service.send(name, "POST", "/query", json=body, headers=accept)
        lines = response.text.splitlines()[1:]
        assert {line.rpartition(",")[2] for line in lines} == {department}
        assert len(lines) == len(rows[name])


async def test_a_picked_query_over_what_is_withheld_is_refused_and_says_nothing(
    service: Service,
) -> None:
    sql = "SELECT net_amt FROM payslips ORDER BY 1"
    assert read_rows(await service.ask("ada", "What?", chosen_sql=sql))
    for name in ("mia", "max", "noa", "ravi", "eve"):
        answer = await service.ask(name, "What?", chosen_sql=sql)
        assert answer["outcome"] in ("refused", "failed")
        assert "rows" not in answer
        assert not [each["rows"] for each in answer["trace"]["candidates"] if each["rows"]]
    body = {"question": "What?", "chosen_sql": sql}
    for accept in ("text/csv", "application/x-ndjson", "application/vnd.apache.parquet"):
        headers = {"accept": accept}
        response = await service.send("mia", "POST", "/query", json=body, headers=headers)
        assert response.status_code == 422
        assert response.headers["content-type"] == "application/problem+json"


async def test_nobody_but_the_token_says_who_asks(service: Service) -> None:
    body = {"question": "Who?", "chosen_sql": COUNT}
    for more in (
        {"principal": "ada"},
        {"roles": ["analyst"]},
        {"attributes": {"department_id": 7}},
        {"identity": {"local": {"roles": ["analyst"]}}},
    ):
        response = await service.send("mia", "POST", "/query", json={**body, **more})
        assert response.status_code == 422
    own = read_rows(await service.ask("mia", "Who?", chosen_sql=COUNT))
    headers = {"X-Principal": "ada", "X-Forwarded-User": "ada", "Cookie": "token=token of ada"}
    response = await service.send(
        "mia", "POST", "/query?principal=ada&roles=analyst", json=body, headers=headers
    )
    assert read_rows(response.json()) == own
    assert own != read_rows(await service.ask("ada", "Who?", chosen_sql=COUNT))


# -- questions about the database itself, which need no model --------------------------------------


@pytest.mark.parametrize("question", ["Show me all tables", "有哪些表？"])  # noqa: RUF001
async def test_tables_are_those_that_one_may_see(service: Service, question: str) -> None:
    names = {
        name: {row[0] for row in read_rows(await service.ask(name, question))}
        for name in ("ada", "mia")
    }
    assert service.engine.prompts == []
    assert len(names["ada"]) == 78
    assert "employees" in names["mia"] < names["ada"]
    assert "customers" in names["ada"] - names["mia"]
    answer = await service.ask("eve", question)
    assert (answer["outcome"], answer["code"]) == ("refused", "not_permitted")


async def test_columns_of_a_table_that_one_may_not_see_are_not_listed(service: Service) -> None:
    question = "What columns does payslips have?"
    assert "gross_amt" in {row[0] for row in read_rows(await service.ask("ada", question))}
    assert "gross_amt" not in repr(await service.ask("mia", question))


# -- feedback and examples -------------------------------------------------------------------------

GIVEN = f"How many employees are called {SECRET}?"
GIVEN_SQL = f"SELECT count(*) FROM employees WHERE last_name = '{SECRET}'"


async def read_examples(service: Service, name: str) -> str:
    """What the answer and its prompts show besides the question."""
    service.engine.prompts.clear()
    answer = await service.ask(name, "How many employees are there?")
    return str(answer["trace"]["examples"]) + "".join(service.engine.prompts)


async def test_an_example_is_shown_to_equals_alone(service: Service) -> None:
    assert (await service.judge("mia", GIVEN, GIVEN_SQL)).json()["outcome"] == "stored"
    shown = {name: SECRET in await read_examples(service, name) for name in EVERYBODY}
    assert shown == {name: name in ("mia", "max") for name in EVERYBODY}


async def test_an_error_of_a_fed_back_query_quotes_no_value_that_is_withheld(
    service: Service,
) -> None:
    # Fails on the first row that it sees, and PostgreSQL's own message quotes its text.
    sql = "SELECT CAST(last_name AS integer) FROM employees"
    names = {row[0] for row in read_rows(await service.ask("ada", "Who?", chosen_sql=
             "SELECT DISTINCT last_name FROM employees"))}  # fmt: skip
    said = (await service.judge("noa", "Which names?", sql)).text
    assert not [name for name in names if f'"{name}"' in said or f"'{name}'" in said]
