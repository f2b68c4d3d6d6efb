"""The audit log: who asked what, which queries ran, and how it ended; never values of results.

Each question is recorded after its answer and before the answer is returned: an answer that cannot
be recorded is not given. Bound values of row filters and error messages, which can quote cells, are
not recorded. Literals in a query are: the question and the model wrote them.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused
from nl2sql.errors import Unavailable
from nl2sql.settings.service import AuditSettings
from nl2sql.types import (
    Assessment,
    GuardedQuery,
)
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from serve_app.service.account import Account

# Old rows are deleted once in this time.
_PRUNE_INTERVAL_S = 3600.0


class AuditSink(Protocol):
    """Where entries are written."""

    async def add(self, entry: AuditEntry) -> None:
        """Writes an entry. Raises Unavailable."""
        ...


class AuditFile:
    """A file of JSON lines. It is opened for each line, so that it can be moved away at any time.

    Several processes may write to one file: a line is one write.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    async def add(self, entry: AuditEntry) -> None:
        """Appends a line. Raises Unavailable."""
        values = asdict(entry) | {"asked_at": entry.asked_at.isoformat(timespec="milliseconds")}
        line = json.dumps(values, ensure_ascii=True, separators=(",", ":")) + "\n"
        try:
            await asyncio.to_thread(self._append, line.encode())
        except OSError as error:
            raise Unavailable(_describe(error)) from error

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``; looks whether the disk has room, and writes nothing."""
        return (("audit log", await asyncio.to_thread(self._find_problem)),)

    def _find_problem(self) -> str:
        try:
            descriptor = self._open()
            try:
                has_room = os.fstatvfs(descriptor).f_bavail > 0
            finally:
                os.close(descriptor)
        except OSError as error:
            return _describe(error)
        return "" if has_room else _describe(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def _open(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)

    def _append(self, line: bytes) -> None:
        descriptor = self._open()
        try:
            # A line that another process is writing must not look like one that was cut off.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if not _ends_a_line(descriptor):
                line = b"\n" + line
            written = os.write(descriptor, line)
        finally:
            os.close(descriptor)
        if written < len(line):
            raise OSError(errno.ENOSPC, "a line was written in part; is the disk full?")


def _describe(error: OSError) -> str:
    return f"The audit log cannot be written: {error.strerror}."


def _ends_a_line(descriptor: int) -> bool:
    """False after a line that was written in part, to which the next one must not be added."""
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


class AuditTable:
    """The table of the index, whose old rows are deleted now and then."""

    def __init__(self, store: AuditStore, *, keep_days: int) -> None:
        self._store = store
        self._keep_days = keep_days
        self._pruned_at = -float("inf")

    async def add(self, entry: AuditEntry) -> None:
        """Adds a row. Raises Unavailable."""
        await self._store.add(entry)
        if time.monotonic() - self._pruned_at >= _PRUNE_INTERVAL_S:
            self._pruned_at = time.monotonic()
            await self._store.prune(self._keep_days)


def build_sinks(settings: AuditSettings, store: AuditStore) -> tuple[AuditSink, ...]:
    """The sinks of the settings; none if nothing is recorded."""
    sinks: list[AuditSink] = []
    if settings.file is not None:
        sinks.append(AuditFile(settings.file))
    if settings.table:
        sinks.append(AuditTable(store, keep_days=settings.keep_days))
    return tuple(sinks)


def build_entry(account: Account, outcome: Answer | BaseException) -> AuditEntry:
    """The entry of a question that ended now with an answer or an error."""
    question = account.question
    ran = [
        (assessment, assessment.verdict)
        for assessment in (account.ranking.assessments if account.ranking else ())
        if isinstance(assessment.verdict, GuardedQuery) and _has_run(assessment)
    ]
    chosen = [guarded for assessment, guarded in ran if assessment.candidate.sql == account.sql]
    name, code = _name_outcome(outcome)
    return AuditEntry(
        asked_at=account.started,
        principal=question.principal.name,
        key=question.principal.access.key,
        database=question.database,
        session=question.session,
        question=question.text,
        outcome=name,
        code=code,
        sql=chosen[0].sql if chosen else "",
        predicates=list(chosen[0].predicates) if chosen else [],
        tables=list(chosen[0].tables) if chosen else [],
        executed=[guarded.sql for _, guarded in ran],
        row_count=account.rows,
        ms=(datetime.now(UTC) - account.started).total_seconds() * 1000,
    )


def _has_run(assessment: Assessment) -> bool:
    """Whether the database began to execute the query, instead of only planning it."""
    is_planned = assessment.explained is not None
    return assessment.result is not None or (is_planned and assessment.diagnostic is not None)


def _name_outcome(outcome: Answer | BaseException) -> tuple[str, str]:
    match outcome:
        case Answered():
            return "answered", ""
        case Clarify():
            return "clarify", ""
        case Refused(code=code):
            return "refused", code
        case Failed():
            return "failed", ""
        case asyncio.CancelledError():
            return "cancelled", ""
        case _:
            return "error", type(outcome).__name__
