"""Answers that are kept for the same question, while everything that they depend on is unchanged.

An answer is kept under its question (with principal, roles, attributes, K, seed and ``max_rows``)
and a revision: a text for the index, the policy, the catalog and the data, read before the answer
was begun. It is found only by the same question under the same revision. Revisions never return
(``nl2sql.protocols.Revisions``), so if R was read before the answer was begun and is read again
now, it was R all the time between: every query of that answer ran on the data as they are now. A
change during the answer makes it one that is never found. So whoever begins the answer keeps it: a
caller who shares the answer of another may have read a later revision.

Kept are answers with rows only, and not all: none of which a part was missing or cut short by time,
and none with a candidate that may read anything but the data, such as the clock. Knows nothing of
conversations and limits. Answers are kept pickled and compressed, so that their size is known and
callers share nothing; the least recently used make room.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO

from nl2sql.answers import Answer, Answered
from nl2sql.cache_counts import count_lookups
from nl2sql.concurrency import gather_all
from nl2sql.errors import QuorumError
from nl2sql.protocols import DataRevisions, Revisions
from nl2sql.sql.threads import compute_aside
from nl2sql.types import GuardedQuery, Plan, Question, Ranking

# How long a question waits for its revision; then it is answered as if that were unknown.
_REVISION_TIMEOUT_S = 1.0
# What an entry takes besides its content: key, digest, objects, its place in the dictionary.
_ENTRY_BYTES = 512
# Classes of SQLSTATE of what the next try may not meet: too few resources, locks, time.
_PASSING = frozenset({"53", "55", "57"})
_CUT_SHORT = frozenset({"budget", "busy", "timeout"})
# The fastest; higher ones save little.
_COMPRESSION = 1


@dataclass(frozen=True, slots=True)
class _Entry:
    """An answer, pickled and compressed, and a digest of its revision."""

    revision: bytes
    content: bytes

    @property
    def size(self) -> int:
        return len(self.content) + _ENTRY_BYTES


class AnswerCache:
    """Keeps at most ``most_bytes`` of answers, one for each question; for use in one event loop."""

    def __init__(self, most_bytes: int, index: Revisions, data: DataRevisions) -> None:
        self._most_bytes = most_bytes
        self._index = index
        self._data = data
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._bytes = 0

    @property
    def size(self) -> int:
        """The bytes that are kept now."""
        return self._bytes

    async def find(self, question: Question) -> Answered | None:
        """The answer that is kept for the question, if nothing has changed since.

        Asks for the revision only if there is one.
        """
        if _belongs_to_conversation(question):
            return None
        key = _locate(question)
        entry = self._entries.get(key)
        revision = await self._read_revision(question.database) if entry else b""
        is_found = entry is not None and entry.revision == revision
        count_lookups("answers", hits=is_found, misses=not is_found)
        if entry is None or not is_found:
            return None
        if key in self._entries:
            self._entries.move_to_end(key)
        answer = await compute_aside(_unpack, entry.content)
        # The same principal may have come with another API key.
        return replace(answer, trace=replace(answer.trace, question=question))

    async def answer(
        self, question: Question, work: Callable[[Question], Awaitable[Answer]]
    ) -> Answer:
        """What ``work`` answers to the question, which is kept if it can be.

        Raises what ``work`` raises.
        """
        if _belongs_to_conversation(question):
            return await work(question)
        revision = await self._read_revision(question.database)
        answer = await work(question)
        if revision and isinstance(answer, Answered) and await self._can_be_kept(answer):
            content = await compute_aside(_pack, answer)
            self._put(_locate(question), _Entry(revision, content))
        return answer

    async def _read_revision(self, database: str) -> bytes:
        """A digest of the present revision; empty if that is unknown."""
        try:
            async with asyncio.timeout(_REVISION_TIMEOUT_S):
                parts = await gather_all(
                    (self._index.revision(database), self._data.revision(database))
                )
        except (TimeoutError, QuorumError):
            return b""
        return hashlib.sha256("\n".join(parts).encode()).digest() if all(parts) else b""

    async def _can_be_kept(self, answer: Answered) -> bool:
        if not is_whole(answer):
            return False
        assessments = answer.trace.ranking.assessments if answer.trace.ranking else ()
        # All that may have run: the others took part in the vote.
        verdicts = (assessment.verdict for assessment in assessments)
        queries = tuple(verdict for verdict in verdicts if isinstance(verdict, GuardedQuery))
        try:
            return await self._data.are_repeatable(queries)
        except QuorumError:
            return False

    def _put(self, key: bytes, entry: _Entry) -> None:
        self._drop(key)
        if entry.size > self._most_bytes:
            return
        self._entries[key] = entry
        self._bytes += entry.size
        while self._bytes > self._most_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: bytes) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size


def is_whole(answer: Answered) -> bool:
    """Whether no part of the answer was missing, or cut short by time."""
    trace, question = answer.trace, answer.trace.question
    ranking, plan = trace.ranking or Ranking(), trace.plan or Plan()
    return not (
        trace.ended_early
        or trace.notes
        or plan.links.note
        or (question.answer_text == "model" and answer.text_source != "model")
        or any(
            assessment.unrun in _CUT_SHORT
            or (assessment.diagnostic and assessment.diagnostic.sqlstate[:2] in _PASSING)
            for assessment in ranking.assessments
        )
    )


def _belongs_to_conversation(question: Question) -> bool:
    return bool(question.session or question.history)


def _locate(question: Question) -> bytes:
    # By ``repr``, to which 1, 1.0 and True are different attributes, and API keys are nothing.
    return hashlib.sha256(repr(question).encode()).digest()


def _pack(answer: Answered) -> bytes:
    # Its timings are those of work that is not done again.
    trace = replace(answer.trace, timings=(), cached_at=datetime.now(UTC))
    # Through a file, frame by frame: one call over all rows would stop other threads.
    buffer = BytesIO()
    with gzip.open(buffer, "wb", compresslevel=_COMPRESSION) as file:
        pickle.dump(replace(answer, trace=trace), file)
    return buffer.getvalue()


def _unpack(content: bytes) -> Answered:
    with gzip.open(BytesIO(content)) as file:
        answer: Answered = pickle.load(file)
    return answer
