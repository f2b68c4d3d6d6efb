"""The tools over both transports and both generations of the protocol, with fakes behind them."""

from __future__ import annotations

import json
import re
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.client.client import ConnectMode

from execution.guard.guard import SqlGuard
from nl2sql.errors import EngineUnavailable
from nl2sql.types import Diagnostic, Principal, ResultSet
from serve_app.mcp.documents import MOST_CHARS
from serve_app.operations.variants import override
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeExecutor,
    FakeGenerator,
    FakeGuard,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
    build_table,
    build_violation,
)
from tests.retrieval.directories import build_directory
from tests.serve_app.mcp.clients import MODES, call, connect_directly, connect_http, fail, read_text
from tests.serve_app.served import build_app, build_services

ORDERS = "SELECT id FROM orders"
LOCAL = Principal("local")
# The words of JSON schema that strict clients accept.
PLAIN = {"type", "description", "default", "minimum", "maxItems", "items"}
Opened = AbstractAsyncContextManager[Client]


def guarded(sql: str) -> str:
    """The query as the guard renders it, which is how the fake executor knows it."""
    return sql.replace("FROM orders", 'FROM "sales"."orders" AS orders')


@pytest.fixture(
    params=[(mode, transport) for mode in MODES for transport in ("http", "direct")],
    ids=lambda param: f"{param[1]} {param[0]}",
)
def opened(request: pytest.FixtureRequest) -> Opened:
    """A client that the test enters itself, because its tasks end where they began."""
    return connect(*request.param)


def connect(mode: ConnectMode = "auto", transport: str = "http", **parts: Any) -> Opened:
    guard = SqlGuard(FakeCatalogs(SHOP))
    parts = {
        "guard": guard,
        "schemas": build_directory(guard),
        "generator": FakeGenerator(*[build_generated(build_candidate(ORDERS), samples=1)] * 2),
        "results": {guarded(ORDERS): [build_result((1,), (2,))] * 5},
        **parts,
    }
    if transport == "http":
        return connect_http(build_app(**parts), mode=mode)
    return connect_directly(build_services(build_settings(), **parts), principal=LOCAL, mode=mode)


async def test_the_tools_are_listed_with_described_arguments(
    opened: Opened,
) -> None:
    async with opened as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [
            "ask",
            "translate",
            "run_sql",
            "list_databases",
            "describe_tables",
            "search_schema",
        ]
        for tool in tools.values():
            assert tool.description
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
            assert tool.input_schema.keys() <= {"type", "properties", "required"}
            for argument in tool.input_schema["properties"].values():
                assert argument["description"]
                assert argument["type"] in ("string", "integer", "array")
                assert argument.keys() <= PLAIN
                assert argument.get("default", "") is not None
        assert tools["ask"].input_schema["required"] == ["question"]
        assert client.instructions is not None
        assert "run_sql" in client.instructions


async def test_progress_is_reported(opened: Opened) -> None:
    said: list[tuple[float, str | None]] = []

    async def show(progress: float, total: float | None = None, message: str | None = None) -> None:
        said.append((progress, message))

    async with opened as client:
        await client.call_tool("ask", {"question": "Which orders?"}, progress_callback=show)
    assert len(said) > 2
    assert [done for done, _ in said] == sorted({done for done, _ in said})
    assert all(message for _, message in said)


async def test_each_tool_gives_its_document(opened: Opened) -> None:
    async with opened as client:
        asked = await call(client, "ask", question="Which orders are there?")
        assert (asked["outcome"], asked["sql"]) == ("answered", ORDERS)
        assert (asked["rows"], asked["truncated"]) == ([[1], [2]], False)
        translated = await call(client, "translate", question="Which orders are there?")
        assert (translated["sql"], "rows" in translated) == (ORDERS, False)
        ran = await client.call_tool("run_sql", {"sql": ORDERS})
        assert json.loads(read_text(ran)) == ran.structured_content
        names = ["orders", "Stock.Products", "nowhere"]
        described = await call(client, "describe_tables", tables=names)
        orders, products = described["tables"]
        assert orders["name"] == "orders"
        total = {"name": "total", "type": "numeric(12,2)", "comment": "in euros"}
        assert total in orders["columns"]
        assert "(customer_id) references sales.customers(id)" in orders["foreign_keys"]
        assert products["comment"] == "What can be bought"
        assert described["notes"] == ["There is no table 'nowhere' that you may see."]
        found = await call(client, "search_schema", text="orders of a customer")
        assert "orders" in [table["name"] for table in found["tables"]]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT pg_read_file('/etc/passwd')", ""),
        ("DELETE FROM orders", "not_a_query"),
        ("SELECT 1; SELECT 2", "multiple_statements"),
        ("SELECT id FROM secrets", "unknown_table"),
        ("not sql at all (", "unparsable"),
    ],
)
async def test_what_is_no_query_is_refused(sql: str, code: str) -> None:
    """Attacks are written at the guard; ``run_sql`` has no way past it."""
    async with connect() as client:
        message = await fail(client, "run_sql", sql=sql)
    assert message.startswith(f"The query was not run ({code}")


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("ask", {}, "question: Field required"),
        ("ask", {"question": "q", "colour": "red"}, "colour: Extra inputs"),
        ("ask", {"question": " "}, "The question is empty."),
        ("ask", {"question": "q", "database": "nowhere"}, "There is no database 'nowhere'."),
        ("ask", {"question": "q", "max_rows": 0}, "max_rows:"),
        ("ask", {"question": "q", "max_rows": 10**6}, "max_rows must be from 1 to 1000"),
        ("ask", {"question": "q", "session": "a b"}, "session"),
        ("translate", {"question": 7}, "question:"),
        ("run_sql", {"sql": ""}, "The sql is empty."),
        ("run_sql", {"sql": "x" * 30_000}, "20000 are allowed"),
        ("run_sql", {"sql": ORDERS, "max_rows": 10**6}, "max_rows must be from 1 to 1000"),
        ("describe_tables", {"tables": ["nowhere"]}, "There is no table 'nowhere'"),
        ("search_schema", {"text": ""}, "The text is empty."),
        ("list_databases", {"all": True}, "all: Extra inputs"),
    ],
)
async def test_bad_arguments_are_errors_of_the_tool(
    tool: str, arguments: dict[str, Any], part: str
) -> None:
    async with connect() as client:
        assert part in await fail(client, tool, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"database": None, "max_rows": None, "conversation_id": None},
        {"database": "", "session": ""},
        {"max_rows": "2"},
        {"max_rows": 2.0},
    ],
)
async def test_what_lenient_clients_send_is_read_as_they_mean_it(
    arguments: dict[str, Any],
) -> None:
    async with connect() as client:
        assert (await call(client, "ask", question="Which?", **arguments))["rows"] == [[1], [2]]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            EngineUnavailable("The engine is down.", hint="Wait."),
            "The engine is down. Wait.",
        ),
        (RuntimeError("secret"), "The service failed unexpectedly; its log has the details."),
    ],
    ids=["unavailable", "unexpected"],
)
async def test_an_error_is_one_of_the_tool(error: Exception, message: str) -> None:
    async with connect(generator=FakeGenerator(error)) as client:
        assert await fail(client, "ask", question="q") == message


async def test_an_error_of_the_database_is_an_error_of_the_tool() -> None:
    executor = FakeExecutor({guarded(ORDERS): [Diagnostic("22012", "division by zero")]})
    async with connect(executor=executor) as client:
        message = await fail(client, "run_sql", sql=ORDERS)
    assert message == "The query was not run (22012): division by zero"


# -- limits ----------------------------------------------------------------------------------------


async def run(result: ResultSet, **arguments: Any) -> dict[str, Any]:
    async with connect(results={guarded(ORDERS): [result]}) as client:
        return await call(client, "run_sql", sql=ORDERS, **arguments)


@pytest.mark.parametrize("tool", ["ask", "translate"])
async def test_interpretations_are_listed_and_one_is_picked(tool: str) -> None:
    first, second = "SELECT name FROM customers WHERE id = 1", "SELECT name FROM customers"
    both = build_generated(build_candidate(first), build_candidate(second, id="c2"), samples=2)
    settings = override(build_settings(), ["ranking.min_confidence=0.999"])
    parts: dict[str, Any] = {
        "generator": FakeGenerator(both),
        "guard": FakeGuard({"SELECT secret": build_violation("not_permitted")}),
        "results": {
            first: [build_result(("a",))] * 4,
            second: [build_result(("a",), ("b",))] * 4,
        },
    }
    services = build_services(settings, **parts)
    async with connect_directly(services, principal=LOCAL) as client:
        document = await call(client, tool, question="Who has id 1?")
        assert document["outcome"] == "clarify"
        shown = [(each["number"], each["sql"]) for each in document["interpretations"]]
        assert shown == [(1, first), (2, second)]
        assert all(("rows" in each) is (tool == "ask") for each in document["interpretations"])
        assert "`chosen_sql`" in document["next"]
        chosen = await call(client, "ask", question="Who has id 1?", chosen_sql=second)
        assert chosen["rows"] == [["a"], ["b"]]
        # It comes from the client, so it may be any text.
        forged = await call(client, "ask", question="Who has id 1?", chosen_sql="SELECT secret")
        assert forged["outcome"] in ("refused", "failed")


TOO_LONG = "Some cells are null because their values are too long to be returned."


@pytest.mark.parametrize(
    ("result", "rows", "note"),
    [
        (build_result((1,), (2,), truncated=True), [[1], [2]], "more rows than the 2 fetched"),
        (replace(build_result((None, 1)), cut=((0, 0),)), [[None, 1]], TOO_LONG),
        (build_result((None, 1)), [[None, 1]], ""),
        (build_result(("y" * 5000,)), [["y" * 499 + "…"]], "longer than 500 characters"),
        (build_result(("a\ud800b",)), [["a?b"]], ""),
    ],
    ids=["more", "withheld", "null", "long", "half a character"],
)
async def test_what_a_result_leaves_out_is_told(
    result: ResultSet, rows: list[Any], note: str
) -> None:
    document = await run(result)
    assert document["rows"] == rows
    assert document["truncated"] == result.truncated
    assert note in " ".join(document["notes"])
    assert bool(document["notes"]) == bool(note)


async def test_a_result_has_a_limited_size_and_says_so() -> None:
    document = await run(build_result(*((n, "x" * 400) for n in range(1000))), max_rows=1000)
    assert len(json.dumps(document)) < MOST_CHARS + 1000
    shown = len(document["rows"])
    assert 0 < shown < 1000
    assert document["truncated"]
    assert f"{shown} of 1000 fetched rows are shown" in document["notes"][0]


async def test_a_wide_table_says_which_part_of_it_is_described() -> None:
    wide = build_table("sales.wide", *(f"column_{number} integer" for number in range(1000)))
    guard = SqlGuard(FakeCatalogs(replace(SHOP, tables=(wide,), foreign_keys=())))
    async with connect(guard=guard, schemas=build_directory(guard)) as client:
        (table,) = (await call(client, "describe_tables", tables=["wide"]))["tables"]
    assert len(table["columns"]) + table["columns_left_out"] == 1000
    assert len(json.dumps(table)) < MOST_CHARS
