"""What a pair of databases comes to, with databases that answer as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from nl2sql.types import Diagnostic, ExecutionLimits, Explained, GuardedQuery, ResultSet
from tests.oracle.metamorphic.verdicts import (
    Finding,
    Kind,
    Observation,
    PairJudge,
    PairTally,
    Side,
    has_other_time,
)
from tests.oracle.metamorphic.warehouse import Change

QUERY = GuardedQuery("shop", "SELECT 1", ())
ROWS = ResultSet(("n",), ("int4",), ((1,), (2,)), False, 1.0)
ERROR = Diagnostic("22025", "invalid escape sequence")
LATE = Diagnostic("57014", "The statement was stopped.")
TOO_LARGE = Diagnostic("54001", "The query was not run.")

Answer = ResultSet | Diagnostic


class QueuedDatabase:
    """Gives its results one after the other, the last one again and again."""

    def __init__(self, results: Sequence[Answer]) -> None:
        self._results = list(results)

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        first = self._results[0]
        return first if isinstance(first, Diagnostic) else Explained(1.0, 1.0)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        return self._results.pop(0) if len(self._results) > 1 else self._results[0]

    async def probe(self) -> str:
        return ""

    async def close(self) -> None:
        return


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.mark.parametrize(
    ("results", "kind"),
    [
        ([ROWS], Kind.SAME),
        ([replace(ROWS, ms=900.0)], Kind.SAME),
        ([replace(ROWS, rows=((2,), (1,)))], Kind.SAME),
        ([replace(ROWS, rows=((1,),))], Kind.DIFFERENT),
        ([replace(ROWS, rows=((1,), (2,), (2,)))], Kind.DIFFERENT),
        ([replace(ROWS, types=("int8",))], Kind.DIFFERENT),
        ([replace(ROWS, columns=("m",))], Kind.DIFFERENT),
        ([replace(ROWS, truncated=True)], Kind.DIFFERENT),
        ([replace(ROWS, cut=((0, 0),))], Kind.DIFFERENT),
        ([ERROR], Kind.DIFFERENT),
        ([TOO_LARGE], Kind.ESTIMATE),
        ([LATE], Kind.PASSING),
        ([ERROR, ERROR, ROWS], Kind.PASSING),
    ],
)
def test_what_is_seen_decides(results: list[Answer], kind: Kind, runner: asyncio.Runner) -> None:
    assert judge(runner, [ROWS], results)[0] is kind


@pytest.mark.parametrize(
    "other",
    [
        replace(ERROR, sqlstate="22003"),
        replace(ERROR, message="other words"),
        replace(ERROR, position=7),
        replace(ERROR, hint="a hint"),
    ],
)
def test_errors_are_seen_whole(other: Diagnostic, runner: asyncio.Runner) -> None:
    assert judge(runner, [ERROR], [ERROR])[0] is Kind.SAME
    assert judge(runner, [ERROR], [other])[0] is Kind.DIFFERENT


def test_an_open_answer_settles_nothing(runner: asyncio.Runner) -> None:
    fewer = replace(ROWS, rows=((1,),))
    assert judge(runner, [ROWS], [fewer], is_open=True)[0] is Kind.UNSETTLED


@pytest.mark.parametrize(
    ("change", "kind", "is_leak"),
    [
        (Change.ODD, Kind.TIME, True),
        (Change.DELETED, Kind.TIME, False),
        (Change.DELETED, Kind.DIFFERENT, True),
        (Change.ODD, Kind.UNSETTLED, False),
    ],
)
def test_only_changed_values_must_not_change_the_time(
    change: Change, kind: Kind, is_leak: bool
) -> None:
    tally = PairTally()
    tally.add(Finding("q", "ann", change, "", QUERY, kind))
    assert bool(tally.leaks) is is_leak


def test_times_differ_by_class_only() -> None:
    quick = Observation(None, ROWS, 1.0, 400.0)
    assert has_other_time(quick, replace(quick, execute_ms=1100.0))
    assert has_other_time(quick, replace(quick, explain_ms=1100.0))
    assert not has_other_time(quick, replace(quick, execute_ms=900.0))
    assert not has_other_time(replace(quick, execute_ms=700.0), replace(quick, execute_ms=1100.0))


def judge(
    runner: asyncio.Runner, left: list[Answer], right: list[Answer], *, is_open: bool = False
) -> tuple[Kind, str]:
    """The verdict on one query."""
    one, two = (Side(QueuedDatabase(results), runner) for results in (left, right))
    return PairJudge(one, two, lambda _: is_open).judge(QUERY, one.observe(QUERY))
