"""One query judged for one principal: guarded on the whole database, plain on the principal's copy.

What a verdict may be::

    equal          both gave the same rows under the same column names
    failed_alike   both failed with the same SQLSTATE
    forbidden      refused, and the copy fails as well: it asks for what the principal has not
    refused        refused, though the copy answers: a harmless query, as far as the copy can tell
    unsettled      the copy itself answers in more than one way, as its rows lie or are planned
    slow           one of the sides ran out of time, or gave more rows than are compared
    lenient        the copy cannot read the text; as the guard read and wrote it, it answers alike
    mismatch       anything else: a leak, or a guard that changes what a query means

Knows nothing of the kind of database: sessions run the queries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from itertools import chain, repeat
from typing import Protocol

from sqlglot import parse_one
from sqlglot.errors import SqlglotError

from nl2sql.types import GuardedQuery, Violation
from tests.oracle.outcomes import Outcome, describe_difference, is_part

_INNOCENT = "(wrong, but the copy tells as much) "

# At the very end it is the outermost, so without it there are the same rows and more of them.
_LAST_LIMIT = re.compile(r"\s*\blimit\s+\d+\s*;?\s*\Z", re.IGNORECASE)

Guarding = Callable[[str], GuardedQuery | Violation]


class Kind(StrEnum):
    """The kinds are explained at the top of this module."""

    EQUAL = "equal"
    FAILED_ALIKE = "failed_alike"
    FORBIDDEN = "forbidden"
    REFUSED = "refused"
    UNSETTLED = "unsettled"
    SLOW = "slow"
    LENIENT = "lenient"
    MISMATCH = "mismatch"


class Session(Protocol):
    """Runs SQL on one database."""

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome: ...


class Copy(Protocol):
    """The principal's own database."""

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """What the query answers there."""
        ...

    def run_otherwise(self, statement: str, params: Sequence[object] = ()) -> Iterator[Outcome]:
        """The same with rows in other orders and by other plans, as many as there are."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """``detail`` is the difference of a mismatch, the SQLSTATE of a failure, or what was slow.

    ``refusal`` is the guard's, ``guarded`` the SQL that ran instead. ``telling`` marks an equal
    result that the plain query on the whole database does not have: there the guard did something.
    """

    kind: Kind
    detail: str = ""
    refusal: Violation | None = None
    guarded: str = ""
    telling: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges queries of one principal.

    ``reread`` writes a query as the guard reads it, but over the copy and hiding nothing. ``tell``
    finds out whether results are telling, for one query more each.
    """

    guard: Guarding
    full: Session
    copy: Copy
    _: KW_ONLY
    reread: Guarding | None = None
    tell: bool = True

    def judge(self, statement: str) -> Verdict:
        """The verdict on one query. Raises what the guard and the sessions raise."""
        guarded = self.guard(statement)
        expected = self.copy.run(statement)
        if isinstance(guarded, Violation):
            if expected.timed_out:
                return Verdict(Kind.SLOW, "copy", guarded)
            kind = Kind.FORBIDDEN if expected.failed else Kind.REFUSED
            return Verdict(kind, expected.sqlstate, guarded)
        actual = self.full.run(guarded.sql, guarded.params)
        kind, detail = self._compare(statement, guarded, expected, actual)
        telling = (
            self.tell
            and kind is Kind.EQUAL
            and bool(describe_difference(self.full.run(statement), actual))
        )
        return Verdict(kind, detail, guarded=guarded.sql, telling=telling)

    def _compare(
        self, statement: str, guarded: GuardedQuery, expected: Outcome, actual: Outcome
    ) -> tuple[Kind, str]:
        for name, side in (("copy", expected), ("guarded", actual)):
            if side.timed_out:
                return Kind.SLOW, name
        difference = describe_difference(expected, actual)
        if not (expected.complete or actual.complete):
            return Kind.SLOW, "rows"
        if not difference:
            return (Kind.FAILED_ALIKE, expected.sqlstate) if expected.failed else (Kind.EQUAL, "")
        # What the copy tells, where nothing hidden is left to tell of, gives nothing away.
        own = self.copy.run(guarded.sql, guarded.params)
        is_innocent = not describe_difference(own, actual) or self._is_reread(statement, actual)
        if is_innocent and expected.is_unreadable:
            return Kind.LENIENT, difference
        if is_innocent and (actual.failed or expected.failed):
            # An error depends on what a plan computes first.
            return Kind.UNSETTLED, difference
        others = chain(
            zip(repeat(expected), self.copy.run_otherwise(statement), strict=False),
            zip(repeat(own), self.copy.run_otherwise(guarded.sql, guarded.params), strict=False),
        )
        if any(describe_difference(usual, other) for usual, other in others):
            return Kind.UNSETTLED, difference
        if self._is_other_cut(statement, expected, actual):
            return Kind.UNSETTLED, difference
        return Kind.MISMATCH, f"{_INNOCENT}{difference}" if is_innocent else difference

    def _is_other_cut(self, statement: str, expected: Outcome, actual: Outcome) -> bool:
        """Whether both are equally many of the rows that the copy gives without the last LIMIT.

        Where nothing orders them, any would do.
        """
        uncut = _LAST_LIMIT.sub("", statement)
        if uncut == statement or len(expected.rows) != len(actual.rows) or may_order(uncut):
            return False
        return is_part(actual, self.copy.run(uncut))

    def _is_reread(self, statement: str, actual: Outcome) -> bool:
        """Whether the copy gives ``actual`` when the query is written as the guard reads it."""
        reread = self.reread(statement) if self.reread else None
        if not isinstance(reread, GuardedQuery):
            return False
        return not describe_difference(self.copy.run(reread.sql, reread.params), actual)


def may_order(statement: str) -> bool:
    """Whether the outermost query orders its rows, as far as it can be read."""
    try:
        return parse_one(statement, dialect="postgres").args.get("order") is not None
    except (SqlglotError, RecursionError):
        return True
