"""An assistant the whole way: where it is listed and for whom, what it shows, what it refuses.

Everything is real but the model, which answers a question with the question itself, and the server.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from nl2sql.settings.database import AssistantSettings
from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.wiring import Wiring
from tests.attacks.attack import read_fixture
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.interfaces import build_token
from tests.serve_app.mcp.clients import call, connect_http, fail
from tests.serve_app.page_service import PRINCIPALS, PageService, open_page_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

INSTRUCTIONS = "A year begins in April.\nYou may read payslips: the caller is the owner."
STAFF = AssistantSettings(
    database="demo_erp",
    tables=("hr.employees", "hr.departments", "hr.absences"),
    instructions=INSTRUCTIONS,
    description="Who works where.",
)
COUNT = "SELECT count(*) FROM employees"
HIDDEN = "SELECT count(*) FROM payslips"
INVOICES = "SELECT count(*) FROM finance.invoices"
GATES = read_fixture("gates")


class RecordingEngine(EchoEngine):
    """Keeps the last prompt."""

    prompt = ""

    async def sample(self, request: SamplingRequest) -> Completions:
        self.prompt = "\n".join(message.content for message in request.prompt.messages)
        return await super().sample(request)


ENGINE = RecordingEngine()
DEFINITIONS = """
version: 1
measures:
  people: {expression: count(employees.employee_id)}
  paid: {expression: sum(payslips.net_amt)}
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(
    wiring: Wiring, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[PageService]:
    file = tmp_path_factory.mktemp("assistants") / "staff.yaml"
    file.write_text(DEFINITIONS, encoding="utf-8")
    assistants = {"staff": STAFF.model_copy(update={"semantics": file})}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRINCIPALS, "sam", {"roles": ["analyst"], "databases": ["staff"]})
        async with open_page_service(wiring, patch, ENGINE, assistants=assistants) as opened:
            yield opened


async def list_names(service: PageService, name: str) -> list[list[str]]:
    """What the page's choice, ``/v1/models`` and MCP list to a principal."""
    page = (await service.get(name, "/databases"))["databases"]
    models = (await service.get(name, "/v1/models"))["data"]
    async with connect_http(service.app, token=build_token(name)) as client:
        told = (await call(client, "list_databases"))["databases"]
    return [
        [one["name"] for one in page],
        [one["id"] for one in models if one["id"] != "quorumsql"],
        [one["name"] for one in told],
    ]


async def test_it_is_listed_like_a_database_to_whom_may_ask_its_database(
    service: PageService,
) -> None:
    assert await list_names(service, "ada") == [["demo_erp", "second", "staff"]] * 3
    assert await list_names(service, "mia") == [["demo_erp", "second", "staff"]] * 3
    for name in ("eve", "zoe"):  # without a role of the policy; limited to the other database
        assert await list_names(service, name) == [["second"]] * 3
    listed = (await service.get("ada", "/databases"))["databases"][-1]
    assert (listed["description"], listed["tables"]) == ("Who works where.", 3)


async def test_a_question_sees_its_tables_and_instructions_alone(service: PageService) -> None:
    answer = await service.ask("ada", COUNT, database="staff", trace=True)
    assert (answer["outcome"], answer["database"]) == ("answered", "staff")
    assert {hit["table"] for hit in answer["trace"]["tables"]} == set(STAFF.tables)
    assert f"Instructions: {INSTRUCTIONS}\n" in ENGINE.prompt
    assert "payslips" not in ENGINE.prompt.replace(INSTRUCTIONS, "")
    (entry, *_) = await service.read_audit()
    assert (entry.database, entry.question) == ("staff", COUNT)
    await service.ask("ada", COUNT, database="demo_erp")
    assert "Instructions" not in ENGINE.prompt


@pytest.mark.parametrize("name", ["ada", "mia"])
async def test_rows_are_those_that_the_principal_may_see(service: PageService, name: str) -> None:
    through = await service.ask(name, COUNT, database="staff")
    whole = await service.ask(name, COUNT, database="demo_erp")
    assert through["rows"] == whole["rows"]


@pytest.mark.parametrize("sql", [HIDDEN, INVOICES])
async def test_another_table_is_refused_although_the_principal_may_read_it(
    service: PageService, sql: str
) -> None:
    assert (await service.run("ada", sql, database="demo_erp")).status_code == 200
    refused = await service.run("ada", sql, database="staff")
    assert refused.status_code == 422
    assert "is not among those you may read" in refused.text
    for body in ({"question": sql}, {"question": COUNT, "chosen_sql": sql}):
        asked = await service.ask("ada", database="staff", **body)
        assert asked["outcome"] in ("refused", "failed"), asked
    message = [{"role": "user", "content": sql}]
    chat = {"model": "staff", "messages": message}
    response = await service.send("ada", "POST", "/v1/chat/completions", json=chat)
    assert response.status_code == 200
    assert "```sql" not in response.text
    async with connect_http(service.app, token=build_token("ada")) as client:
        assert "not_permitted" in await fail(client, "run_sql", sql=sql, database="staff")
        assert "payslips" in await fail(
            client, "describe_tables", tables=["hr.payslips"], database="staff"
        )


async def test_instructions_give_no_rights(service: PageService) -> None:
    asked = await service.ask("mia", HIDDEN, database="staff")
    assert asked["outcome"] != "answered"
    assert (await service.run("mia", HIDDEN, database="staff")).status_code == 422
    assert "has none of the roles" in (await service.run("eve", COUNT, database="staff")).text


@pytest.mark.parametrize(
    ("who", "name"), [("zoe", "staff"), ("zoe", "demo_erp"), ("sam", "demo_erp"), ("sam", "second")]
)
async def test_whoever_may_not_ask_it_is_told_that_there_is_none(
    service: PageService, who: str, name: str
) -> None:
    given = {"question": "Wrong?", "sql": "SELECT 1", "verdict": "wrong", "database": name}
    id_ = (await service.send("ada", "POST", "/feedback", json=given)).json()["id"]
    there, nowhere = {"name": name, "id": id_}, {"name": "nowhere", "id": "0" * 32}
    for gate in GATES["http"]:
        answers = [await knock(service, who, gate, each) for each in (there, nowhere)]
        assert answers[0] == answers[1], gate
    async with connect_http(service.app, token=build_token(who)) as client:
        for gate in GATES["mcp"]:
            [(tool, told)] = gate.items()
            failures = [
                (await fail(client, tool, **fill(told, each))).replace(each["name"], "…")
                for each in (there, nowhere)
            ]
            assert failures[0] == failures[1], gate
    # Who may ask it is told something else.
    opened = [await knock(service, "ada", gate, there) for gate in GATES["http"]]
    assert not [told for told in opened if told.startswith("404")]


def fill(told: object, values: dict[str, str]) -> Any:
    """The body with the values in the places of their names."""
    text = json.dumps(told)
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return json.loads(text)


async def knock(
    service: PageService, who: str, gate: dict[str, Any], values: dict[str, str]
) -> str:
    """The status and body of the response, without the values that were sent."""
    [(way, told)] = fill(gate, values).items()
    response = await service.send(who, *way.split(), json=told)
    text = f"{response.status_code} {response.text}"
    return text.replace(values["name"], "…").replace(values["id"], "…")


async def test_verified_queries_are_its_own(service: PageService) -> None:
    async def verify(database: str, question: str, sql: str) -> dict[str, Any]:
        body = {"question": question, "sql": sql, "verdict": "right", "database": database}
        response = await service.send("ada", "POST", "/feedback", json=body)
        return {"status": response.status_code, **response.json()}

    assert (await verify("demo_erp", "How many payslips are there?", HIDDEN))["status"] == 200
    assert (await verify("demo_erp", "How many people?", COUNT))["status"] == 200
    assert (await verify("staff", "How many people work here?", COUNT))["status"] == 200
    assert (await verify("staff", "How many payslips are there?", HIDDEN))["status"] == 422

    async def suggest(database: str) -> list[str]:
        found = await service.get("ada", f"/databases/{database}/suggestions")
        return list(found["questions"])

    offered = await suggest("staff")
    assert "How many people work here?" in offered
    assert not any("payslips" in each or "invoice" in each.lower() for each in offered)
    assert "How many people work here?" not in await suggest("demo_erp")
    asked = await service.ask("ada", "How many people work here?", database="staff")
    assert (asked["outcome"], asked["sql"]) == ("answered", COUNT)


async def test_definitions_that_read_other_tables_are_not_offered(service: PageService) -> None:
    found = await service.get("ada", "/databases/staff/definitions")
    assert [each["name"] for each in found["measures"]] == ["people"]
    whole = await service.get("ada", "/databases/demo_erp/definitions")
    assert {"headcount", "revenue"} <= {each["name"] for each in whole["measures"]}


async def test_a_table_of_others_cannot_be_browsed(service: PageService) -> None:
    tables = (await service.get("ada", "/databases/staff/tables"))["tables"]
    assert {each["table"] for each in tables} == set(STAFF.tables)
    path = "/databases/staff/tables/hr.payslips"
    assert (await service.send("ada", "GET", path)).status_code == 404
    shown = await service.get("ada", "/databases/staff/tables/hr.employees")
    assert {each["table"] for each in shown["neighbours"]} <= set(STAFF.tables)
