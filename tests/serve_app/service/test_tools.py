"""Queries of programs are recorded like questions."""

from __future__ import annotations

from typing import Any

from execution.guard.guard import SqlGuard
from nl2sql.types import Principal, ResultSet
from retrieval.index_store.audit_store import AuditEntry
from retrieval.schema_directory import SchemaDirectory
from serve_app.service.accounting import Accounting
from serve_app.service.tools import Refusal, ToolService
from serve_app.service.turns import Turns
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

MIA = Principal("mia")


class Sink:
    """Keeps the entries."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    async def add(self, entry: AuditEntry) -> None:
        """Keeps one."""
        self.entries.append(entry)


async def run(sql: str, *results: Any) -> tuple[ResultSet | Refusal, AuditEntry]:
    sink = Sink()
    tools = ToolService(
        build_settings(),
        Turns(1, 1),
        guard=FakeGuard({"SELECT secret": build_violation("not_permitted")}),
        executor=FakeExecutor({sql: results}),
        retriever=FakeRetriever(),
        schemas=SchemaDirectory(SqlGuard(FakeCatalogs(SHOP))),
        accounting=Accounting(sinks=[sink]),
    )
    outcome = await tools.run_sql("shop", sql, MIA)
    (entry,) = sink.entries
    assert (entry.principal, entry.database, entry.question) == ("mia", "shop", sql)
    return outcome, entry


async def test_a_query_that_ran_is_recorded_with_its_rows() -> None:
    outcome, entry = await run("SELECT 1", build_result((1,), (2,)))
    assert isinstance(outcome, ResultSet)
    assert entry.outcome == "answered"
    assert (entry.sql, entry.executed, entry.row_count) == ("SELECT 1", ["SELECT 1"], 2)


async def test_a_refused_query_is_recorded_with_the_reason() -> None:
    outcome, entry = await run("SELECT secret")
    assert isinstance(outcome, Refusal)
    assert (entry.outcome, entry.code, entry.executed) == ("refused", "not_permitted", [])


async def test_a_query_that_failed_is_recorded() -> None:
    outcome, entry = await run("SELECT 1", build_diagnostic("division by zero", sqlstate="22012"))
    assert outcome == Refusal("22012", "division by zero")
    assert entry.outcome == "failed"
