"""Pairs judged: one guarded query on two databases that its principal cannot tell apart.

What a verdict may be::

    same        nothing that is seen differs
    plan        nothing that is seen differs, the plan does, which no principal is shown
    order       the same rows in another order: the query leaves it open
    estimate    one side was not run, since its plan expects too much: a documented exception
    unsettled   they differ, and so does the first database alone when it is planned otherwise
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

_REPEATS = 3


class Kind(StrEnum):
    """See the head of this module."""

    SAME = "same"
    PLAN = "plan"
    ORDER = "order"
    ESTIMATE = "estimate"
    UNSETTLED = "unsettled"
    PASSING = "passing"
    DIFFERENT = "different"


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
        """All that is needed to see it again."""
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
        other = self._right.observe(query)
        kind, detail = _compare(usual, other)
        if kind is not Kind.DIFFERENT:
            return kind, detail
        left, right = [usual], [other]
        while len(left) < _REPEATS:
            left.append(self._left.observe(query))
            right.append(self._right.observe(query))
        for one, two in zip(left, right, strict=True):
            kind, detail = _compare(one, two)
            if kind is not Kind.DIFFERENT:
                return Kind.PASSING, detail
        is_of_time = not describe_difference(left[-1], right[-1])
        if is_of_time and not has_other_time(find_quickest(left), find_quickest(right)):
            return Kind.PASSING, detail
        if not is_of_time and self._is_open(query):
            return Kind.UNSETTLED, detail
        return Kind.DIFFERENT, detail


def _compare(left: Observation, right: Observation) -> tuple[Kind, str]:
    if left.is_too_large != right.is_too_large:
        return Kind.ESTIMATE, ""
    if difference := describe_difference(left, right):
        return Kind.DIFFERENT, difference
    if has_other_time(left, right):
        times = [f"{each.explain_ms:.0f} + {each.execute_ms:.0f} ms" for each in (left, right)]
        return Kind.DIFFERENT, f"time: {times[0]} became {times[1]}"
    if not has_same_order(left, right):
        return Kind.ORDER, ""
    return (Kind.SAME if left.plan == right.plan else Kind.PLAN), ""


@dataclass
class PairTally:
    """Counts of all verdicts; what differs is kept."""

    counts: Counter[tuple[str, Kind]] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    kept: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding, sqlstate: str) -> None:
        """Counts one verdict; ``sqlstate`` is the error that both gave, if they did."""
        self.counts[f"{finding.pair.principal} {finding.pair.change}", finding.kind] += 1
        if sqlstate:
            self.failed[sqlstate] += 1
        if finding.kind in (Kind.DIFFERENT, Kind.UNSETTLED, Kind.PASSING):
            self.kept.append(finding)

    @property
    def total(self) -> int:
        """How many pairs there are."""
        return self.counts.total()

    def count(self, kind: Kind) -> int:
        """How many pairs of one kind."""
        return sum(number for (_, each), number in self.counts.items() if each is kind)

    def list_kept(self, kind: Kind) -> list[Finding]:
        """The findings of one of the kinds that are kept."""
        return [each for each in self.kept if each.kind is kind]

    def render(self) -> str:
        """The table by principal and change, and every difference whole."""
        return "\n".join(self._render_lines())

    def _render_lines(self) -> Iterator[str]:
        names = list(dict.fromkeys(name for name, _ in self.counts))
        width = max(map(len, (*names, "principal and change")))
        head = [f"{'principal and change':{width}}", f"{'pairs':>9}"]
        yield " ".join([*head, *(f"{kind:>9}" for kind in Kind)])
        for name in names:
            yield _render_row(f"{name:{width}}", [self.counts[name, kind] for kind in Kind])
        yield _render_row(f"{'all':{width}}", [self.count(kind) for kind in Kind])
        errors = ", ".join(f"{state} {number}" for state, number in self.failed.most_common())
        yield f"the same error on both sides: {errors or 'none'}"
        yield f"refused by the guard, so no pair: {self.refused:,}"
        for kind in (Kind.PASSING, Kind.UNSETTLED):
            for finding in self.list_kept(kind)[:3]:
                yield finding.render()
        for finding in self.list_kept(Kind.DIFFERENT):
            yield finding.render()


def _render_row(name: str, numbers: list[int]) -> str:
    return " ".join([name, f"{sum(numbers):9,}", *(f"{number:9,}" for number in numbers)])
