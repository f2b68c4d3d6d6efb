"""The audit log: every question, with the queries that ran; never a value of a result."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused, Trace
from nl2sql.errors import DeadlineExceeded, IndexUnavailable, Unavailable, UnknownDatabase
from nl2sql.protocols import Observer
from nl2sql.types import (
    Entitlement,
    GuardedQuery,
    Interpretation,
    Principal,
    Ranking,
)
from quorumsql.contract import QueryRequest
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from serve_app.service.accounting import Accounting
from tests.fakes import build_assessment, build_diagnostic, build_question, build_result
from tests.nl2sql.test_progress import Notes

ANN = Principal("ann", ("clerk",), (("secret", "attribute"),), Entitlement(key="key_1"))
QUESTION = build_question(text="Who?", principal=ANN, session="s")
SECRET = "Zacharias"
GUARDED = GuardedQuery(
    "shop",
    "SELECT name FROM (SELECT * FROM people WHERE country = $1) AS people",
    ("sales.people",),
    predicates=("sales.people: country = $1",),
    params=("DE", "hash-key"),
)
RANKING = Ranking(
    (
        replace(build_assessment("c1", sql="SELECT name FROM people"), verdict=GUARDED,
                result=build_result((SECRET,), (SECRET,))),
        build_assessment("c2", sql="SELECT 2", rows=[(SECRET,)]),
        build_assessment("c3", sql="SELECT 3", diagnostic=build_diagnostic(f"bad {SECRET}")),
        build_assessment("c4", sql="SELECT 4"),
    )
)  # fmt: skip
TRACE = Trace(QUESTION, ranking=RANKING)
ANSWERED = Answered("SELECT name FROM people", build_result((SECRET,), (SECRET,)), 0.9, True, TRACE)


class Sink(AuditStore):
    """Keeps the entries, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.entries: list[AuditEntry] = []
        self._error = error

    async def add(self, entry: AuditEntry) -> None:
        if self._error:
            raise self._error
        self.entries.append(entry)


async def run(
    sink: Sink,
    outcome: Answer | BaseException,
    observer: Observer | None = None,
    events: Sequence[Any] = (),
) -> Answer:
    async with Accounting(log=sink).open(QUESTION, observer) as account:
        for event in events:
            if account.observer is not None:
                account.observer.observe(event)
        if isinstance(outcome, BaseException):
            raise outcome
        account.finish(outcome)
    return account.answer


async def test_an_answer_is_recorded_with_its_guarded_query() -> None:
    sink = Sink()
    assert await run(sink, ANSWERED) is ANSWERED
    [entry] = sink.entries
    assert (entry.principal, entry.key, entry.database) == ("ann", "key_1", "shop")
    assert (entry.question, entry.session, entry.outcome) == ("Who?", "s", "answered")
    assert entry.sql == GUARDED.sql
    assert entry.predicates == ["sales.people: country = $1"]
    assert entry.tables == ["sales.people"]
    assert entry.executed == [GUARDED.sql, "SELECT 2", "SELECT 3"]
    assert entry.row_count == 2
    assert entry.ms >= 0
    for hidden in (SECRET, "hash-key", "attribute"):
        assert hidden not in str(entry)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Refused("not_permitted", f"no {SECRET}", TRACE), ("refused", "not_permitted")),
        (Failed(f"no {SECRET}", TRACE), ("failed", "")),
        (Clarify(f"no {SECRET}", 0.1, (), TRACE), ("clarify", "")),
        (Unavailable(f"no {SECRET}"), ("unavailable", "Unavailable")),
        (DeadlineExceeded("late"), ("timeout", "DeadlineExceeded")),
        (RuntimeError(SECRET), ("error", "RuntimeError")),
        (asyncio.CancelledError(), ("cancelled", "CancelledError")),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_every_end_of_a_question_is_recorded(
    outcome: Answer | BaseException, expected: tuple[str, str]
) -> None:
    sink = Sink()
    if isinstance(outcome, BaseException):
        with pytest.raises(type(outcome)):
            await run(sink, outcome)
    else:
        await run(sink, outcome)
    [entry] = sink.entries
    assert (entry.outcome, entry.code, entry.sql, entry.row_count) == (*expected, "", None)
    assert SECRET not in str(entry)


async def test_rows_that_a_client_got_before_it_left_are_recorded() -> None:
    sink = Sink()
    events = [RANKING, ANSWERED]
    with pytest.raises(asyncio.CancelledError):
        await run(sink, asyncio.CancelledError(), Notes(), events)
    [entry] = sink.entries
    assert (entry.outcome, entry.sql, entry.row_count) == ("cancelled", GUARDED.sql, 2)


async def test_a_request_about_a_hidden_database_is_recorded() -> None:
    sink = Sink()
    request = QueryRequest(question="Who?", database="hidden")
    error = UnknownDatabase("hidden", ("shop",))
    await Accounting(log=sink).record_invalid(request, ANN, error)
    [entry] = sink.entries
    assert (entry.database, entry.outcome, entry.code) == ("hidden", "invalid", "UnknownDatabase")


async def test_an_answer_that_cannot_be_recorded_is_not_given() -> None:
    with pytest.raises(IndexUnavailable):
        await run(Sink(IndexUnavailable("down")), ANSWERED)
    with pytest.raises(DeadlineExceeded):
        await run(Sink(IndexUnavailable("down")), DeadlineExceeded("late"))


async def test_the_rows_of_interpretations_are_counted() -> None:
    sink = Sink()
    rows = build_result(("a",), ("b",))
    readings = tuple(Interpretation("SELECT 1", "one", 0.5, result=each) for each in (rows, rows))
    await run(sink, Clarify("Which?", 0.1, readings, TRACE))
    [entry] = sink.entries
    assert (entry.outcome, entry.row_count) == ("clarify", 4)
