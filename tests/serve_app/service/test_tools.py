"""The operations of programs are counted and recorded like questions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from execution.guard.guard import SqlGuard
from nl2sql.answers import Answer, Answered, Refused
from nl2sql.errors import Forbidden, LimitReached, Unavailable, UnknownDatabase
from nl2sql.types import Entitlement, Principal, SchemaContext
from retrieval.index_store.audit_store import AuditEntry
from serve_app.service.account import Account
from serve_app.service.accounting import Accounting
from serve_app.service.admission import AdmissionController
from serve_app.service.tools import ToolService, find_refusal
from serve_app.service.usage import UsageMeter
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeExecutor,
    FakeGuard,
    FakeRetriever,
    build_diagnostic,
    build_result,
    build_settings,
    build_violation,
)
from tests.retrieval.directories import build_directory
from tests.serve_app.service.test_audit import Sink

MIA = Principal("mia")
SEARCH = "search_schema: late orders"
Call = Callable[[ToolService, Principal], Awaitable[Any]]
CALLS: dict[str, Call] = {
    "run": lambda tools, who: tools.run("shop", "SELECT 1", who),
    "describe_tables": lambda tools, who: tools.describe_tables("shop", [], who),
    "search_schema": lambda tools, who: tools.search_schema("shop", "late orders", who),
}


def build_tools(sink: Sink, meter: UsageMeter | None = None, **stages: Any) -> ToolService:
    parts: dict[str, Any] = {
        "guard": FakeGuard({"SELECT secret": build_violation("not_permitted")}),
        "executor": FakeExecutor({"SELECT 1": [build_result((1,))]}),
        "retriever": FakeRetriever(),
        "schemas": build_directory(SqlGuard(FakeCatalogs(SHOP))),
    }
    accounting = Accounting(meter, sink)
    return ToolService(
        build_settings(), AdmissionController(1, 1), accounting=accounting, **(parts | stages)
    )


async def run(sql: str, *results: Any) -> tuple[Answer, AuditEntry]:
    sink = Sink()
    tools = build_tools(sink, executor=FakeExecutor({sql: results}))
    outcome = await tools.run("shop", sql, MIA)
    (entry,) = sink.entries
    assert (entry.principal, entry.database, entry.question) == ("mia", "shop", sql)
    return outcome, entry


async def test_a_query_that_ran_is_recorded_with_its_rows() -> None:
    outcome, entry = await run("SELECT 1", build_result((1,), (2,)))
    assert isinstance(outcome, Answered)
    assert entry.outcome == "answered"
    assert (entry.sql, entry.executed, entry.row_count) == ("SELECT 1", ["SELECT 1"], 2)


async def test_a_refused_query_is_recorded_with_the_reason() -> None:
    outcome, entry = await run("SELECT secret")
    assert isinstance(outcome, Refused)
    assert (entry.outcome, entry.code, entry.executed) == ("refused", "not_permitted", [])


async def test_a_query_that_failed_is_recorded() -> None:
    outcome, entry = await run("SELECT 1", build_diagnostic("division by zero", sqlstate="22012"))
    assert find_refusal(outcome) == ("22012", "division by zero")
    assert entry.outcome == "failed"


@pytest.mark.parametrize(
    ("call", "recorded"),
    [
        (lambda tools: tools.describe_tables("shop", ["orders"], MIA), "describe_tables: orders"),
        (lambda tools: tools.describe_tables("shop", [], MIA), "describe_tables"),
        (lambda tools: tools.search_schema("shop", "late orders", MIA), SEARCH),
    ],
)
async def test_what_is_read_of_a_schema_is_recorded(call: Any, recorded: str) -> None:
    sink = Sink()
    await call(build_tools(sink))
    (entry,) = sink.entries
    assert (entry.principal, entry.database, entry.question) == ("mia", "shop", recorded)
    assert (entry.outcome, entry.sql, entry.executed) == ("answered", "", [])


async def test_a_search_that_is_refused_or_breaks_is_recorded() -> None:
    sink = Sink()
    nothing = SchemaContext(refusal="Nothing for you.")
    tools = build_tools(sink, retriever=FakeRetriever(nothing, Unavailable("Away.")))
    for error in (Forbidden, Unavailable):
        with pytest.raises(error):
            await tools.search_schema("shop", "late orders", MIA)
    assert [(entry.outcome, entry.question) for entry in sink.entries] == [
        ("forbidden", SEARCH),
        ("unavailable", SEARCH),
    ]


class OneLeft:
    """Limits of a principal that leave one operation; counts what is used."""

    def __init__(self) -> None:
        self.tokens_and_rows: list[tuple[int, int]] = []

    @asynccontextmanager
    async def measure(self, account: Account) -> AsyncIterator[None]:
        """See ``UsageMeter.measure``."""
        if self.tokens_and_rows:
            raise LimitReached("One at a time.", retry_after_s=1.0)
        account.tokens = 4096
        yield
        self.tokens_and_rows.append((account.tokens, account.rows or 0))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_limits_apply_to_all_operations(call: Call) -> None:
    meter: Any = OneLeft()
    sink = Sink()
    tools = build_tools(sink, meter)
    await call(tools, MIA)
    assert [tokens for tokens, _ in meter.tokens_and_rows] == [0]
    with pytest.raises(LimitReached):
        await call(tools, MIA)
    assert [entry.outcome for entry in sink.entries] == ["answered", "limited"]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_a_database_that_is_not_allowed_is_unknown(call: Call) -> None:
    with pytest.raises(UnknownDatabase):
        await call(build_tools(Sink()), Principal("bob", access=Entitlement(databases=("erp",))))
