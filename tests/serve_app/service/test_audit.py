"""The audit log: every question, with the queries that ran; never a value of a result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
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
    RowsFetched,
    VoteCounted,
)
from quorumsql.contract import QueryRequest
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from retrieval.index_store.store import IndexStore
from serve_app.service.accounting import Accounting
from serve_app.service.audit import AuditFile, AuditTable
from tests.fakes import build_assessment, build_diagnostic, build_question, build_result

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


class Sink:
    """Keeps the entries, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.entries: list[AuditEntry] = []
        self._error = error

    async def add(self, entry: AuditEntry) -> None:
        if self._error:
            raise self._error
        self.entries.append(entry)


class Client:
    """Receives events."""

    def observe(self, event: object) -> None:
        """Nothing is kept."""


async def run(
    sink: Sink,
    outcome: Answer | BaseException,
    observer: Observer | None = None,
    events: Sequence[Any] = (),
) -> Answer:
    async with Accounting(sinks=[sink]).open(QUESTION, observer) as account:
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
        (Unavailable(f"no {SECRET}"), ("error", "Unavailable")),
        (DeadlineExceeded("late"), ("error", "DeadlineExceeded")),
        (RuntimeError(SECRET), ("error", "RuntimeError")),
        (asyncio.CancelledError(), ("cancelled", "")),
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
    events = [VoteCounted(RANKING), RowsFetched(ANSWERED.sql, ANSWERED.result)]
    with pytest.raises(asyncio.CancelledError):
        await run(sink, asyncio.CancelledError(), Client(), events)
    [entry] = sink.entries
    assert (entry.outcome, entry.sql, entry.row_count) == ("cancelled", GUARDED.sql, 2)


async def test_a_request_about_a_hidden_database_is_recorded() -> None:
    sink = Sink()
    request = QueryRequest(question="Who?", database="hidden")
    error = UnknownDatabase("hidden", ("shop",))
    await Accounting(sinks=[sink]).record_invalid(request, ANN, error)
    [entry] = sink.entries
    assert (entry.database, entry.outcome, entry.code) == ("hidden", "error", "UnknownDatabase")


async def test_an_answer_that_cannot_be_recorded_is_not_given() -> None:
    with pytest.raises(IndexUnavailable):
        await run(Sink(IndexUnavailable("down")), ANSWERED)
    with pytest.raises(DeadlineExceeded):
        await run(Sink(IndexUnavailable("down")), DeadlineExceeded("late"))


async def test_a_file_has_a_line_for_each_question(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "audit.jsonl"
    sink = Sink()
    odd = replace(QUESTION, text='two\nlines "and" \ud800')
    for _ in range(20):
        await run(sink, ANSWERED)
    await asyncio.gather(
        *(AuditFile(path).add(replace(entry, question=odd.text)) for entry in sink.entries)
    )
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 20
    assert lines[0]["question"] == odd.text
    assert lines[0]["sql"] == GUARDED.sql
    assert lines[0]["asked_at"].endswith("+00:00")
    assert path.stat().st_mode & 0o777 == 0o600
    path.rename(tmp_path / "moved")
    await AuditFile(path).add(sink.entries[0])
    assert len(path.read_text().splitlines()) == 1


async def test_a_file_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    sink = Sink()
    await run(sink, ANSWERED)
    with pytest.raises(Unavailable, match="audit log"):
        await AuditFile(tmp_path).add(sink.entries[0])
    ((part, problem),) = await Accounting(sinks=[AuditFile(tmp_path)]).probe()
    assert (part, problem) == ("audit log", "The audit log cannot be written: Is a directory.")
    assert await AuditFile(tmp_path / "audit.jsonl").probe() == (("audit log", ""),)


async def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    """As a full disk cuts it."""
    sink, path = Sink(), tmp_path / "audit.jsonl"
    await run(sink, ANSWERED)
    path.write_text('{"asked_at": "2026-')
    for _ in range(2):
        await AuditFile(path).add(sink.entries[0])
    cut, *lines = path.read_text().splitlines()
    assert cut == '{"asked_at": "2026-'
    assert [json.loads(line)["principal"] for line in lines] == ["ann"] * 2


async def test_the_table_deletes_old_rows(store: IndexStore) -> None:
    table, log, sink = AuditTable(AuditStore(store), keep_days=30), AuditStore(store), Sink()
    await run(sink, ANSWERED)
    [entry] = sink.entries
    await log.add(replace(entry, asked_at=entry.asked_at.replace(year=2020)))
    await table.add(entry)
    [read] = await log.read(most=9)
    assert (read.asked_at, list(read.executed)) == (entry.asked_at, list(entry.executed))


async def test_the_rows_of_interpretations_are_counted() -> None:
    sink = Sink()
    rows = build_result(("a",), ("b",))
    readings = tuple(Interpretation("SELECT 1", "one", 0.5, result=each) for each in (rows, rows))
    await run(sink, Clarify("Which?", 0.1, readings, TRACE))
    [entry] = sink.entries
    assert (entry.outcome, entry.row_count) == ("clarify", 4)
