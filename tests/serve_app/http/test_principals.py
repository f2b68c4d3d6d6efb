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
from serve_app.service.history import SessionService
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

    async def judge(
        self, name: str, question: str, sql: str, verdict: str = "right"
    ) -> httpx.Response:
        body = {"question": question, "sql": sql, "verdict": verdict}
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
        sessions = guarded.build_sessions(parts.store, parts.guard)
        app = build_http_app(
            settings,
            queries,
            feedback=FeedbackService(settings, recorder, queries.admission),
            sessions=SessionService(sessions),
        )
        yield Service(app, engine)
        await sessions.clear()
        examples = ExampleStore(parts.store)
        found = await examples.list_embedded("demo_erp")
        await examples.remove("demo_erp", list(found))


def read_rows(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in answer.get("rows", [])]


# -- picked queries --------------------------------------------------------------------------------


async def test_a_picked_query_gives_only_ones_own_rows(service: Service) -> None:
    rows = {
        name: set(read_rows(await service.ask(name, "Who?", picked=STAFF)))
        for name in EVERYBODY
        if name != "eve"
    }
    assert {department for _, department in rows["mia"]} == {31}
    assert rows["mia"] == rows["max"] == {row for row in rows["ada"] if row[1] == 31}
    assert rows["noa"] == {row for row in rows["ada"] if row[1] == 7}
    assert rows["mia"] < rows["ada"]
    assert rows["ravi"] < rows["ada"]
    assert rows["mia"]
    assert rows["noa"]


@pytest.mark.parametrize(
    "sql",
    [
        f"{STAFF} WHERE department_id = 7",
        f"{STAFF} WHERE department_id = 31 OR true",
        "WITH employees AS (SELECT * FROM hr.employees) " + STAFF,
        f"{STAFF} UNION ALL {STAFF}",
        "SELECT e.employee_id, e.department_id FROM departments d JOIN LATERAL "
        "(SELECT * FROM employees x) e ON true",
    ],
)
async def test_no_wording_of_a_picked_query_gives_more(service: Service, sql: str) -> None:
    answer = await service.ask("mia", "Who?", picked=sql)
    assert {department for _, department in read_rows(answer)} <= {31}
    whole = read_rows(await service.ask("ada", "Who?", picked=sql))
    assert {department for _, department in whole} - {31}


async def test_a_picked_query_over_what_is_withheld_is_refused_and_says_nothing(
    service: Service,
) -> None:
    sql = "SELECT net_amt FROM payslips ORDER BY 1"
    assert read_rows(await service.ask("ada", "What?", picked=sql))
    for name in ("mia", "max", "noa", "ravi", "eve"):
        answer = await service.ask(name, "What?", picked=sql)
        assert answer["outcome"] in ("refused", "failed")
        assert "rows" not in answer
        assert not [each["rows"] for each in answer["trace"]["candidates"] if each["rows"]]
    for accept in ("text/csv", "application/x-ndjson", "application/vnd.apache.parquet"):
        body = {"question": "What?", "picked": sql}
        response = await service.send(
            "mia", "POST", "/query", json=body, headers={"accept": accept}
        )
        assert response.status_code == 422
        assert response.headers["content-type"] == "application/problem+json"


async def test_an_export_holds_only_ones_own_rows(service: Service) -> None:
    lines = {}
    for name in ("mia", "max", "noa"):
        body = {"question": "Who?", "picked": STAFF, "max_rows": 1000}
        response = await service.send(
            name, "POST", "/query", json=body, headers={"accept": "text/csv"}
        )
        assert response.headers["content-disposition"] == 'attachment; filename="rows.csv"'
        lines[name] = response.text.splitlines()[1:]
    assert lines["mia"] == lines["max"]
    assert all(line.endswith(",31") for line in lines["mia"])
    assert all(line.endswith(",7") for line in lines["noa"])


async def test_a_masked_column_is_picked_in_vain(service: Service) -> None:
    sql = "SELECT salary FROM employees"
    assert set(read_rows(await service.ask("mia", "Pay?", picked=sql))) == {(None,)}
    assert (None,) not in read_rows(await service.ask("ada", "Pay?", picked=sql))


@pytest.mark.parametrize(
    "more",
    [
        {"principal": "ada"},
        {"roles": ["analyst"]},
        {"attributes": {"department_id": 7}},
        {"identity": {"local": {"roles": ["analyst"]}}},
    ],
)
async def test_nobody_says_in_the_body_who_they_are(service: Service, more: dict[str, Any]) -> None:
    body = {"question": COUNT, **more}
    assert (await service.send("mia", "POST", "/query", json=body)).status_code == 422


async def test_nobody_says_elsewhere_who_they_are(service: Service) -> None:
    own = read_rows(await service.ask("mia", "Who?", picked=COUNT))
    body = {"question": "Who?", "picked": COUNT}
    headers = {"X-Principal": "ada", "X-Forwarded-User": "ada", "Cookie": "token=token of ada"}
    response = await service.send(
        "mia", "POST", "/query?principal=ada&roles=analyst", json=body, headers=headers
    )
    assert read_rows(response.json()) == own
    assert own != read_rows(await service.ask("ada", "Who?", picked=COUNT))


# -- sessions --------------------------------------------------------------------------------------


async def begin_session(service: Service, name: str = "mia") -> None:
    question = f"{COUNT} WHERE last_name = '{SECRET}'"
    assert (await service.ask(name, question, session="s"))["outcome"] == "answered"
    service.engine.prompts.clear()


@pytest.mark.parametrize("name", [name for name in EVERYBODY if name != "mia"])
async def test_a_session_is_continued_by_nobody_else(service: Service, name: str) -> None:
    await begin_session(service)
    answer = await service.ask(name, "And of those?", session="s")
    # An earlier turn would have been shown to the model, to complete the question.
    assert answer["trace"]["rewriting"] == ""
    assert answer["rewritten"] is None
    assert SECRET not in "".join(service.engine.prompts)
    assert SECRET not in str(answer)


async def test_its_owner_continues_it(service: Service) -> None:
    await begin_session(service)
    answer = await service.ask("mia", "And of those?", session="s")
    assert answer["trace"]["rewriting"] == "kept"
    assert SECRET in service.engine.prompts[0]


@pytest.mark.parametrize("name", [name for name in EVERYBODY if name != "mia"])
async def test_a_session_is_forgotten_by_nobody_else(service: Service, name: str) -> None:
    await begin_session(service)
    forgotten = await service.send(name, "DELETE", "/sessions/s")
    # The same as of a session that never was.
    assert forgotten.json() == {"session": "s", "turns": 0}
    assert (await service.ask("mia", "And of those?", session="s"))["trace"]["rewriting"] == "kept"


async def test_two_sessions_of_one_name_are_two(service: Service) -> None:
    await begin_session(service)
    await begin_session(service, "max")
    assert (await service.send("mia", "DELETE", "/sessions/s")).json()["turns"] == 1
    assert (await service.ask("max", "And of those?", session="s"))["trace"]["rewriting"] == "kept"
    assert (await service.ask("mia", "And of those?", session="s"))["trace"]["rewriting"] == ""


async def test_a_picked_reading_in_anothers_session_changes_nothing_of_it(service: Service) -> None:
    await begin_session(service)
    await service.ask("noa", "Which?", session="s", picked=STAFF)
    service.engine.prompts.clear()
    await service.ask("mia", "And of those?", session="s")
    assert "Which?" not in "".join(service.engine.prompts)
    assert SECRET in service.engine.prompts[0]


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


async def test_whoever_sees_all_gives_an_example_to_none_who_sees_less(service: Service) -> None:
    assert (await service.judge("ada", GIVEN, GIVEN_SQL)).json()["outcome"] == "stored"
    shown = [name for name in EVERYBODY if SECRET in await read_examples(service, name)]
    assert shown == ["ada"]


async def test_feedback_does_not_tell_what_others_gave(service: Service) -> None:
    assert (await service.judge("mia", GIVEN, GIVEN_SQL)).json()["outcome"] == "stored"
    said = {
        name: (await service.judge(name, GIVEN, GIVEN_SQL)).json() for name in ("max", "noa", "ada")
    }
    assert {name: each["outcome"] for name, each in said.items()} == {
        "max": "known",
        "noa": "stored",
        "ada": "stored",
    }
    assert len({each["example"] for each in said.values()}) == 3


async def test_an_example_is_taken_back_by_equals_alone(service: Service) -> None:
    await service.judge("mia", GIVEN, GIVEN_SQL)
    for name in ("noa", "ravi", "eve", "ada"):
        said = (await service.judge(name, GIVEN, GIVEN_SQL, "wrong")).json()
        assert said.pop("id")
        assert said == {"outcome": "recorded", "example": ""}
    assert SECRET in await read_examples(service, "mia")
    assert (await service.judge("max", GIVEN, GIVEN_SQL, "wrong")).json()["outcome"] == "removed"
    assert SECRET not in await read_examples(service, "mia")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT net_amt FROM payslips",
        "SELECT 1 FROM employees WHERE 1 / (SELECT count(*) - 1 FROM payslips) > 0",
        "SELECT pg_sleep(1) FROM employees",
        "DELETE FROM employees",
        "SELECT 1; SELECT 2",
    ],
)
async def test_feedback_runs_no_query_that_its_sender_may_not(service: Service, sql: str) -> None:
    for name in ("mia", "eve"):
        response = await service.judge(name, "What is paid?", sql)
        assert response.status_code == 422
        assert response.json()["errors"][0]["field"] == "sql"
        wrong = {"question": "What is paid?", "sql": COUNT, "verdict": "wrong", "correction": sql}
        response = await service.send(name, "POST", "/feedback", json=wrong)
        assert response.status_code == 422
        assert response.json()["errors"][0]["field"] == "correction"
    for name in EVERYBODY:
        assert "What is paid?" not in await read_examples(service, name)


async def test_an_error_of_a_fed_back_query_quotes_no_value_that_is_withheld(
    service: Service,
) -> None:
    # Fails on the first row that it sees, and PostgreSQL's own message quotes its text.
    sql = "SELECT CAST(last_name AS integer) FROM employees"
    names = {row[0] for row in read_rows(await service.ask("ada", "Who?", picked=
             "SELECT DISTINCT last_name FROM employees"))}  # fmt: skip
    said = (await service.judge("noa", "Which names?", sql)).text
    assert not [name for name in names if f'"{name}"' in said or f"'{name}'" in said]
