"""Pairs judged: one guarded query on two databases that its principal cannot tell apart.

What a verdict may be::

    same        nothing that is seen differs, but for an order of rows that the query leaves open
    estimate    one side was not run, since its plan expects too much: a documented exception
    time        they differ in their class of time, or one was stopped for its time: a documented
                exception where hidden rows were deleted or added, a leak where values changed
    unsettled   they differ, and so does the first database alone when it is planned otherwise; or
                each gave a page of the same rows, in no order that the query asks for
    passing     they differed once, and not every time
    different   a leak

Knows nothing of the kind of database.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from execution.executor import Database
from nl2sql.results.cell_values import normalize_value
from nl2sql.types import TOO_COMPLEX, Diagnostic, GuardedQuery, ResultSet
from tests.oracle.metamorphic.warehouse import Change
from tests.oracle.tally import KindCounts

MOST_ROWS = 1000
_LATE = "57014"
_SLOW_MS = 1000.0
_REPEATS = 3


class Kind(StrEnum):
    """See the head of this module."""

    SAME = "same"
    ESTIMATE = "estimate"
    TIME = "time"
    UNSETTLED = "unsettled"
    PASSING = "passing"
    DIFFERENT = "different"


# Changes after which there are as many rows as before.
_OF_VALUES = (Change.ODD, Change.SAME, Change.NULLS)

Settling = Callable[[GuardedQuery], bool]
"""Whether the first database alone answers in more than one way, as it is planned or read."""


@dataclass(frozen=True, slots=True)
class Observation:
    """All that a principal sees of one guarded query; ``failure`` is why EXPLAIN failed."""

    failure: Diagnostic | None
    result: ResultSet | Diagnostic
    explain_ms: float
    execute_ms: float

    def has_failed(self, sqlstate: str) -> bool:
        """Whether planning or running ended with this SQLSTATE."""
        answers = (self.failure, self.result)
        return any(isinstance(a, Diagnostic) and a.sqlstate == sqlstate for a in answers)


class Side:
    """One of the two databases, asked through the product's own connection."""

    def __init__(self, database: Database, runner: asyncio.Runner) -> None:
        self._database = database
        self._runner = runner

    def observe(self, query: GuardedQuery) -> Observation:
        """Explains and runs the query. Raises DatabaseUnavailable, InsecureRole."""
        return self._runner.run(self._observe(query))

    def close(self) -> None:
        """Closes the connections."""
        self._runner.run(self._database.close())

    async def _observe(self, query: GuardedQuery) -> Observation:
        start = time.perf_counter()
        explained = await self._database.explain(query)
        middle = time.perf_counter()
        result = await self._database.execute(query, MOST_ROWS)
        end = time.perf_counter()
        failure = explained if isinstance(explained, Diagnostic) else None
        return Observation(failure, result, (middle - start) * 1000, (end - middle) * 1000)


@dataclass(frozen=True, slots=True)
class Finding:
    """A query with its verdict: whose it is, and what was changed; ``detail`` says what differs."""

    name: str
    principal: str
    change: Change
    plain: str
    query: GuardedQuery
    kind: Kind
    detail: str = ""

    @property
    def is_leak(self) -> bool:
        """Whether it tells of something hidden and is no documented exception."""
        return self.kind is Kind.DIFFERENT or (self.kind is Kind.TIME and self.change in _OF_VALUES)

    def render(self) -> str:
        """All that is needed to reproduce it."""
        return (
            f"{self.name}, as {self.principal}, hidden values {self.change}: {self.kind}\n"
            f"  {self.detail}\n  plain:   {self.plain}\n  guarded: {self.query.sql}\n"
            f"  values:  {self.query.params}"
        )


class PairJudge:
    """Judges queries between ``left`` and ``right``."""

    def __init__(self, left: Side, right: Side, is_open: Settling) -> None:
        self._left = left
        self._right = right
        self._is_open = is_open

    def judge(self, query: GuardedQuery, usual: Observation) -> tuple[Kind, str]:
        """The verdict and what differs; ``usual`` is what ``left`` showed before.

        Raises DatabaseUnavailable, InsecureRole.
        """
        left, right = [usual], [self._right.observe(query)]
        kind, detail = _compare(left[0], right[0])
        if kind not in (Kind.DIFFERENT, Kind.TIME):
            return kind, detail
        while len(left) < _REPEATS:
            left.append(self._left.observe(query))
            right.append(self._right.observe(query))
            kind, detail = _compare(left[-1], right[-1])
            if kind not in (Kind.DIFFERENT, Kind.TIME):
                return Kind.PASSING, detail
        if kind is Kind.TIME and not has_other_time(_find_quickest(left), _find_quickest(right)):
            return Kind.PASSING, detail
        if kind is Kind.DIFFERENT and self._is_open(query):
            return Kind.UNSETTLED, detail
        return kind, detail


def _compare(left: Observation, right: Observation) -> tuple[Kind, str]:
    if left.has_failed(TOO_COMPLEX) != right.has_failed(TOO_COMPLEX):
        return Kind.ESTIMATE, ""
    if left.has_failed(_LATE) != right.has_failed(_LATE) or has_other_time(left, right):
        times = [f"{side.explain_ms:.0f} + {side.execute_ms:.0f} ms" for side in (left, right)]
        return Kind.TIME, f"{times[0]} became {times[1]}"
    difference = _describe_difference(left, right)
    return (Kind.DIFFERENT, difference) if difference else (Kind.SAME, "")


def has_other_time(left: Observation, right: Observation) -> bool:
    """Whether planning or running takes a second on one side, and less than half on the other."""
    pairs = ((left.explain_ms, right.explain_ms), (left.execute_ms, right.execute_ms))
    return any(max(pair) >= _SLOW_MS and min(pair) < _SLOW_MS / 2 for pair in pairs)


def _find_quickest(seen: list[Observation]) -> Observation:
    return replace(
        seen[0],
        explain_ms=min(observation.explain_ms for observation in seen),
        execute_ms=min(observation.execute_ms for observation in seen),
    )


def _describe_difference(left: Observation, right: Observation) -> str:
    """What differs, in words, the times left out; empty when all that is seen is the same."""
    if _show(left.failure) != _show(right.failure):
        return f"EXPLAIN: {_show(left.failure)} became {_show(right.failure)}"
    one, other = left.result, right.result
    if isinstance(one, Diagnostic) or isinstance(other, Diagnostic):
        return "" if _show(one) == _show(other) else f"{_show(one)} became {_show(other)}"
    for name in ("columns", "types", "truncated"):
        if getattr(one, name) != getattr(other, name):
            return f"{name}: {getattr(one, name)} became {getattr(other, name)}"
    before, after = (
        Counter(tuple(map(normalize_value, row)) for row in result.rows) for result in (one, other)
    )
    if before != after:
        lost, won = ([*(a - b)][:3] for a, b in ((before, after), (after, before)))
        return f"rows differ: {len(one.rows)} and {len(other.rows)}; lost {lost}; won {won}"
    return "" if len(one.cut) == len(other.cut) else f"cut: {one.cut} became {other.cut}"


def _show(answer: ResultSet | Diagnostic | None) -> str:
    """What a principal sees of an answer, without estimates."""
    if isinstance(answer, Diagnostic):
        return repr(replace(answer, explained=None))
    return "no error" if answer is None else f"{len(answer.rows)} rows"


@dataclass
class PairTally(KindCounts[Kind]):
    """Counts of all verdicts; what differs is kept."""

    refused: int = 0
    kept: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """Counts one verdict."""
        self.counts[f"{finding.principal} {finding.change}", finding.kind] += 1
        if finding.kind not in (Kind.SAME, Kind.ESTIMATE):
            self.kept.append(finding)

    @property
    def leaks(self) -> list[Finding]:
        """What tells of something hidden and is no documented exception."""
        return [finding for finding in self.kept if finding.is_leak]

    def render(self) -> str:
        """The table by principal and change, and every difference in full."""
        return "\n".join(self._render_lines())

    def _render_lines(self) -> Iterator[str]:
        yield from self.render_table("principal and change", "pairs", Kind)
        yield f"refused by the guard, so no pair: {self.refused:,}"
        yield from (finding.render() for finding in self.kept if not finding.is_leak)
        yield from (finding.render() for finding in self.leaks)
