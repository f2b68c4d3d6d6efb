"""Principals of different rights over MCP: what they are shown of the schema, and what they run.

Everything is real but the model, which answers a question with the question itself. That the rows
are those of all other interfaces is shown by ``tests/serve_app/test_interfaces.py``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from serve_app.composition.wiring import Wiring
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.interfaces import Interfaces, open_interfaces, sign_in
from tests.serve_app.mcp.clients import call, fail
from tests.serve_app.page_service import PRINCIPALS
from tests.serve_app.test_policy_pipeline import POLICY

STAFF = "SELECT employee_id, department_id FROM employees"


@pytest.fixture
async def interfaces(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Interfaces]:
    database = wiring.settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    settings = wiring.settings.model_copy(update={"databases": {"demo_erp": database}})
    principals = {name: PRINCIPALS[name] for name in ("ada", "mia", "eve")}
    guarded = Wiring(sign_in(settings, principals, monkeypatch), wiring.socket_folder)
    async with open_interfaces(guarded, EchoEngine()) as opened:
        yield opened


async def test_hidden_tables_are_not_described(interfaces: Interfaces) -> None:
    async with interfaces.connect_mcp("ada") as client:
        everything = await call(client, "describe_tables")
        assert "payslips" in [table["name"] for table in everything["tables"]]
    async with interfaces.connect_mcp("mia") as client:
        visible = [table["name"] for table in (await call(client, "describe_tables"))["tables"]]
        assert "employees" in visible
        assert "payslips" not in visible
        hidden = await fail(client, "describe_tables", tables=["hr.payslips"])
        unknown = await fail(client, "describe_tables", tables=["hr.nowhere"])
        assert hidden.replace("payslips", "nowhere") == unknown
        found = await call(client, "search_schema", text="payslips net pay")
        assert "payslips" not in [table["name"] for table in found["tables"]]
        assert "payslips" in await fail(client, "run_sql", sql="SELECT avg(net) FROM payslips")
        (employees,) = (await call(client, "describe_tables", tables=["employees"]))["tables"]
        assert employees["visible_rows"]


async def test_who_may_see_nothing_is_offered_nothing(interfaces: Interfaces) -> None:
    assert await interfaces.list_models("eve") == []
    assert await interfaces.list_models("mia") == ["demo_erp", "quorumsql"]
    async with interfaces.connect_mcp("eve") as client:
        assert (await call(client, "list_databases"))["databases"] == []
        assert (await call(client, "ask", question=STAFF))["outcome"] == "refused"
        for tool, arguments in (
            ("run_sql", {"sql": STAFF}),
            ("describe_tables", {"tables": ["employees"]}),
            ("search_schema", {"text": "employees"}),
        ):
            assert "employee_id" not in await fail(client, tool, **arguments)
