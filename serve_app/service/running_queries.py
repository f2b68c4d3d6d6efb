"""The questions that are being answered in this process, and those of the last minutes.

Each has an id, by which the principal who asked follows its events from elsewhere: while it runs,
or after it has ended.

Where a service has several replicas, ``Replicas`` asks the others for a question's events.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from nl2sql.errors import InvalidRequest, UnknownDatabase
from nl2sql.settings import Settings
from nl2sql.types import Principal

_LAST = frozenset({"answer", "problem"})
# Memory of an event besides its content, in bytes: measured with answers of one row.
_EVENT_BYTES = 800
# For so long the events of a question that has ended can still be followed.
_KEEP_S = 300


class UnknownQuery(InvalidRequest):
    """No question of that id is known to the principal."""

    def __init__(self) -> None:
        super().__init__(
            "There is no such question.",
            field="id",
            hint=f"Questions are kept for {_KEEP_S} seconds, for who asked them.",
        )


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One event; ``number`` counts from 1.

    ``content`` is JSON in one line, in parts that events of the same question may share.
    """

    number: int
    kind: str
    content: tuple[bytes, ...]


@dataclass(eq=False, slots=True)
class RunningQuery:
    """One question and its events so far."""

    principal: Principal
    database: str | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    events: list[RecordedEvent] = field(default_factory=list)
    ended: float | None = None
    when_ended: Callable[[RunningQuery], None] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def size(self) -> int:
        """About the bytes that it holds."""
        parts = {id(part): len(part) for event in self.events for part in event.content}
        return sum(parts.values()) + _EVENT_BYTES * len(self.events)

    def append(self, kind: str, content: tuple[bytes, ...]) -> None:
        """Records an event; an answer or a problem is the last."""
        self.events.append(RecordedEvent(len(self.events) + 1, kind, content))
        if kind in _LAST:
            self.end()
        self._wake()

    def end(self) -> None:
        """No more events will come."""
        if self.ended is None:
            self.ended = time.monotonic()
            if self.when_ended is not None:
                self.when_ended(self)
        self._wake()

    async def follow(
        self, *, silence_s: float, after: int = 0
    ) -> AsyncIterator[RecordedEvent | None]:
        """The events after number ``after``, as they come; None after each silence of so long."""
        position = max(0, after)
        while True:
            changed = self._changed
            for event in self.events[position:]:
                position = event.number
                yield event
            if self.ended is not None and position >= len(self.events):
                return
            try:
                async with asyncio.timeout(silence_s):
                    await changed.wait()
            except TimeoutError:
                yield None

    async def wait_for_more(self, after: int, seconds: float) -> None:
        """Returns when there are events after that number, the question has ended, or in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.ended is None and len(self.events) <= after:
                    await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


@dataclass(frozen=True, slots=True)
class EventsPage:
    """Events of a question; ``ended`` if no more will come."""

    events: tuple[RecordedEvent, ...]
    ended: bool


class Replicas(Protocol):
    """The replicas of the service."""

    async def read_events(
        self, name: str, principal: Principal, after: int, wait_s: float
    ) -> EventsPage | None:
        """What ``RunningQueries.read`` returns in the replica that knows the question.

        None if no replica does. Raise Unavailable.
        """
        ...


class RunningQueries:
    """All of them, the finished ones for ``keep_s`` and up to ``most_bytes`` together."""

    def __init__(
        self,
        *,
        keep_s: float,
        most_bytes: int = 2**26,
        replicas: Replicas | None = None,
        may_ask: Callable[[Principal, RunningQuery], bool] = lambda *_: True,
    ) -> None:
        """``replicas`` are asked for questions that are not known here.

        ``may_ask`` says who may ask the database of a question.
        """
        self._may_ask = may_ask
        self._replicas = replicas
        self._keep_s = keep_s
        self._most_bytes = most_bytes
        self._queries: dict[str, RunningQuery] = {}
        # With their sizes, those that ended first in front.
        self._finished: deque[tuple[RunningQuery, int]] = deque()
        self._bytes = 0

    @property
    def size(self) -> int:
        """The bytes that are kept of questions that have ended."""
        return self._bytes

    def open(self, principal: Principal, database: str | None = None) -> RunningQuery:
        """A new question of the principal; ``database`` as it was named (None: the default)."""
        self._forget_old()
        query = RunningQuery(principal, database, when_ended=self._finish)
        self._queries[query.id] = query
        return query

    def find(self, name: str, principal: Principal) -> RunningQuery:
        """The question of that id.

        Raises UnknownQuery, also for a question that is another principal's, or on a database that
        the principal may not ask.
        """
        self._forget_old()
        query = self._queries.get(name)
        # Its events were recorded as this principal may see them.
        if query is None or query.principal != principal or not self._may_ask(principal, query):
            raise UnknownQuery
        return query

    async def follow(
        self, name: str, principal: Principal, *, silence_s: float, after: int
    ) -> AsyncIterator[RecordedEvent | None]:
        """The events of the question after number ``after``, as they come.

        None after each silence of so long. Raises UnknownQuery before it returns.
        """
        try:
            query = self.find(name, principal)
        except UnknownQuery:
            if self._replicas is None:
                raise
            page = await self._replicas.read_events(name, principal, after, 0.0)
            if page is None:
                raise
            return _follow_pages(self._replicas, name, principal, page, silence_s, after)
        return query.follow(silence_s=silence_s, after=after)

    async def read(
        self, name: str, principal: Principal, after: int, wait_s: float
    ) -> EventsPage | None:
        """The events after number ``after``; None if the principal may not see the question.

        If there are none yet, it waits for ``wait_s``.
        """
        try:
            query = self.find(name, principal)
        except UnknownQuery:
            return None
        await query.wait_for_more(after, wait_s)
        return EventsPage(tuple(query.events[max(0, after) :]), query.ended is not None)

    def _finish(self, query: RunningQuery) -> None:
        size = query.size
        self._finished.append((query, size))
        self._bytes += size
        self._forget_old()

    def _forget_old(self) -> None:
        oldest = time.monotonic() - self._keep_s
        while self._finished:
            query, size = self._finished[0]
            if (query.ended or 0.0) >= oldest and self._bytes <= self._most_bytes:
                return
            self._finished.popleft()
            self._bytes -= size
            del self._queries[query.id]


def build_running_queries(settings: Settings, replicas: Replicas | None = None) -> RunningQueries:
    """An empty one under these settings."""
    return RunningQueries(
        keep_s=_KEEP_S,
        replicas=replicas,
        may_ask=partial(_may_ask, settings),
    )


def _may_ask(settings: Settings, principal: Principal, query: RunningQuery) -> bool:
    try:
        database = settings.database_name(query.database, query.principal)
    except UnknownDatabase:
        return query.principal == principal
    return database in settings.database_names(principal)


async def _follow_pages(
    replicas: Replicas,
    name: str,
    principal: Principal,
    page: EventsPage | None,
    silence_s: float,
    after: int,
) -> AsyncIterator[RecordedEvent | None]:
    position = after
    while page is not None:
        for event in page.events:
            position = event.number
            yield event
        if page.ended:
            return
        if not page.events:
            yield None
        page = await replicas.read_events(name, principal, position, silence_s)
