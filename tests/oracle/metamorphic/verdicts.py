"""Pairs judged: one guarded query on two databases that its principal cannot tell apart.

What a verdict may be::

    same        nothing that is seen differs
    plan        nothing that is seen differs, the plan does, which no principal is shown
    order       the same rows in another order: the query leaves it open
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

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from nl2sql.types import GuardedQuery
from tests.oracle.metamorphic.observations import (
    Observation,
    Side,
    describe_difference,
    find_quickest,
    has_other_time,
    has_same_order,
)
from tests.oracle.tally import KindCounts

_REPEATS = 3


class Kind(StrEnum):
    """See the head of this module."""

    SAME = "same"
    PLAN = "plan"
    ORDER = "order"
    ESTIMATE = "estimate"
    TIME = "time"
    UNSETTLED = "unsettled"
    PASSING = "passing"
    DIFFERENT = "different"


_KEPT = (Kind.DIFFERENT, Kind.TIME, Kind.UNSETTLED, Kind.PASSING)
# Changes after which there are as many rows as before.
_OF_VALUES = ("odd", "same", "nulls")

Settling = Callable[[GuardedQuery], bool]
"""Whether the first database alone answers in more than one way, as it is planned or read."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A query, whose it is, and what was changed."""

    name: str
    principal: str
    change: str
    plain: str
    query: GuardedQuery


@dataclass(frozen=True, slots=True)
class Finding:
    """A pair with its verdict; ``detail`` says what differs."""

    pair: Pair
    kind: Kind
    detail: str = ""

    def render(self) -> str:
        """All that is needed to reproduce it."""
        pair = self.pair
        return (
            f"{pair.name}, as {pair.principal}, hidden values {pair.change}: {self.kind}\n"
            f"  {self.detail}\n  plain:   {pair.plain}\n  guarded: {pair.query.sql}\n"
            f"  values:  {pair.query.params}"
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
        quickest = (find_quickest(left), find_quickest(right))
        if kind is Kind.TIME and not has_other_time(*quickest):
            return Kind.PASSING, detail
        if kind is Kind.DIFFERENT and self._is_open(query):
            return Kind.UNSETTLED, detail
        return kind, detail


def _compare(left: Observation, right: Observation) -> tuple[Kind, str]:
    if left.is_too_large != right.is_too_large:
        return Kind.ESTIMATE, ""
    if left.is_late != right.is_late or has_other_time(left, right):
        times = [f"{side.explain_ms:.0f} + {side.execute_ms:.0f} ms" for side in (left, right)]
        return Kind.TIME, f"{times[0]} became {times[1]}"
    if difference := describe_difference(left, right):
        return Kind.DIFFERENT, difference
    if not has_same_order(left, right):
        return Kind.ORDER, ""
    return (Kind.SAME if left.plan == right.plan else Kind.PLAN), ""


@dataclass
class PairTally(KindCounts[Kind]):
    """Counts of all verdicts; what differs is kept."""

    failed: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    kept: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding, sqlstate: str) -> None:
        """Counts one verdict; ``sqlstate`` is the error that both gave, if they did."""
        self.counts[f"{finding.pair.principal} {finding.pair.change}", finding.kind] += 1
        if sqlstate:
            self.failed[sqlstate] += 1
        if finding.kind in _KEPT:
            self.kept.append(finding)

    @property
    def leaks(self) -> list[Finding]:
        """What tells of something hidden and is no documented exception."""
        return [
            finding
            for finding in self.kept
            if finding.kind is Kind.DIFFERENT
            or (finding.kind is Kind.TIME and finding.pair.change in _OF_VALUES)
        ]

    def list_kept(self, kind: Kind) -> list[Finding]:
        """The findings of one of the kinds that are kept."""
        return [finding for finding in self.kept if finding.kind is kind]

    def render(self) -> str:
        """The table by principal and change, and every difference in full."""
        return "\n".join(self._render_lines())

    def _render_lines(self) -> Iterator[str]:
        yield from self.render_table("principal and change", "pairs", Kind)
        errors = ", ".join(f"{state} {number}" for state, number in self.failed.most_common())
        yield f"the same error on both sides: {errors or 'none'}"
        yield f"refused by the guard, so no pair: {self.refused:,}"
        for kind in (Kind.PASSING, Kind.UNSETTLED):
            for finding in self.list_kept(kind)[:3]:
                yield finding.render()
        for finding in (*self.list_kept(Kind.TIME), *self.list_kept(Kind.DIFFERENT)):
            yield finding.render()
