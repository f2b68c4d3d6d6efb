"""What the judge says of a guarded and a plain outcome, and what the tally makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from nl2sql.types import GuardedQuery, Violation
from tests.oracle.outcomes import Outcome
from tests.oracle.verdicts import Judge, Kind, Verdict

ONE = Outcome(("a",), ((1,),))
TWO = Outcome(("a",), ((1,), (2,)))
SWAPPED = Outcome(("a",), ((2,), (1,)))
RENAMED = Outcome(("b",), ((1,),))
CUT = Outcome(("a",), ((1,),), complete=False)
MISSING = Outcome(sqlstate="42P01", message="no such table")
NO_COLUMN = Outcome(sqlstate="42703", message="no such column")
SYNTAX = Outcome(sqlstate="42601", message="syntax error")
DIVISION = Outcome(sqlstate="22012", message="division by zero")
NO_BYTES = Outcome(sqlstate="22021", message="no bytes")
LATE = Outcome(sqlstate="57014", message="statement timeout")

PLAIN, GUARDED, REREAD = "SELECT plain", "SELECT guarded", "SELECT reread"
NO = Violation("not_permitted", "t", "No.")


class FakeDatabase:
    """Gives prepared answers; with rows in other orders ``others`` and ``guarded_others``."""

    def __init__(
        self,
        answers: Mapping[str, Outcome],
        others: Sequence[Outcome] = (),
        guarded_others: Sequence[Outcome] = (),
    ) -> None:
        self._answers = answers
        self._others = others
        self._guarded_others = guarded_others

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        return self._answers[statement]

    def run_otherwise(self, statement: str, params: Sequence[object] = ()) -> Iterator[Outcome]:
        return iter(self._others if statement == PLAIN else self._guarded_others)


def judge(
    expected: Outcome,
    actual: Outcome | Violation,
    *others: Outcome,
    whole: Outcome = ONE,
    own: Outcome = NO_COLUMN,
    reread: Outcome = NO_COLUMN,
    guarded_others: Sequence[Outcome] = (),
) -> Verdict:
    """The verdict where the copy says ``expected`` or ``others``, the guarded query ``actual``.

    On the copy the guarded query says ``own``, as the guard reads it ``reread``; on the whole
    database the plain query says ``whole``.
    """

    def guard(statement: str) -> GuardedQuery | Violation:
        return actual if isinstance(actual, Violation) else GuardedQuery("d", GUARDED, ())

    def read(statement: str) -> GuardedQuery:
        return GuardedQuery("d", REREAD, ())

    answer = ONE if isinstance(actual, Violation) else actual
    full = FakeDatabase({PLAIN: whole, GUARDED: answer})
    copy = FakeDatabase({PLAIN: expected, GUARDED: own, REREAD: reread}, others, guarded_others)
    return Judge(guard, full, copy, reread=read).judge(PLAIN)


@pytest.mark.parametrize(
    ("expected", "actual", "kind"),
    [
        (TWO, SWAPPED, Kind.EQUAL),
        (DIVISION, DIVISION, Kind.FAILED_ALIKE),
        (MISSING, NO_COLUMN, Kind.FAILED_ALIKE),
        (MISSING, NO, Kind.FORBIDDEN),
        (ONE, NO, Kind.REFUSED),
        (LATE, NO, Kind.SLOW),
        (LATE, ONE, Kind.SLOW),
        (ONE, LATE, Kind.SLOW),
        (CUT, CUT, Kind.SLOW),
        (CUT, ONE, Kind.MISMATCH),
        (ONE, TWO, Kind.MISMATCH),
        (ONE, RENAMED, Kind.MISMATCH),
        (ONE, DIVISION, Kind.MISMATCH),
        (DIVISION, ONE, Kind.MISMATCH),
        (MISSING, ONE, Kind.MISMATCH),
        (SYNTAX, ONE, Kind.MISMATCH),
    ],
)
def test_kinds(expected: Outcome, actual: Outcome | Violation, kind: Kind) -> None:
    assert judge(expected, actual, expected).kind is kind


def test_a_copy_that_answers_in_two_ways_settles_nothing() -> None:
    assert judge(ONE, TWO, ONE, TWO).kind is Kind.UNSETTLED
    assert judge(ONE, TWO, ONE, own=TWO, guarded_others=[ONE]).kind is Kind.UNSETTLED
    assert judge(ONE, TWO, ONE, own=TWO, guarded_others=[TWO]).kind is Kind.MISMATCH


@pytest.mark.parametrize(
    ("uncut", "other", "kind"),
    [
        (PLAIN, Outcome(("a",), ((2,),)), Kind.UNSETTLED),
        (PLAIN, Outcome(("a",), ((7,),)), Kind.MISMATCH),
        (PLAIN, TWO, Kind.MISMATCH),
        (PLAIN, Outcome(("a",), ()), Kind.MISMATCH),
        ("SELECT a FROM t ORDER BY a", Outcome(("a",), ((2,),)), Kind.MISMATCH),
    ],
)
def test_another_cut_through_the_same_rows_settles_nothing_unless_they_are_ordered(
    uncut: str, other: Outcome, kind: Kind
) -> None:
    limited = f"{uncut} LIMIT 1"
    copy = FakeDatabase({limited: ONE, uncut: TWO, GUARDED: NO_COLUMN})
    full = FakeDatabase({limited: ONE, GUARDED: other})
    judging = Judge(lambda _: GuardedQuery("d", GUARDED, ()), full, copy, tell=False)
    assert judging.judge(limited).kind is kind


@pytest.mark.parametrize("side", ["own", "reread"])
@pytest.mark.parametrize(
    ("expected", "actual", "kind"),
    [
        # An error that the guarded query has on the copy too depends on the plan.
        (ONE, DIVISION, Kind.UNSETTLED),
        # A text that the copy cannot read, but the guard could.
        (SYNTAX, ONE, Kind.LENIENT),
        (NO_BYTES, ONE, Kind.LENIENT),
        (MISSING, ONE, Kind.LENIENT),
        # Rows are wrong even if they tell nothing hidden.
        (ONE, TWO, Kind.MISMATCH),
    ],
)
def test_what_the_copy_tells_as_well(
    expected: Outcome, actual: Outcome, kind: Kind, side: str
) -> None:
    innocent = {"own": NO_COLUMN, "reread": NO_COLUMN} | {side: actual}
    verdict = judge(expected, actual, expected, own=innocent["own"], reread=innocent["reread"])
    assert verdict.kind is kind
    assert ("wrong, but" in verdict.detail) is (kind is Kind.MISMATCH)


def test_telling_is_what_the_whole_database_would_answer_otherwise() -> None:
    assert judge(ONE, ONE, whole=TWO).telling
    assert not judge(ONE, ONE, whole=ONE).telling
    assert not judge(ONE, TWO, whole=ONE).telling
