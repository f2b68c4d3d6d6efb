"""What running a query came to, and how two such outcomes differ.

Results are compared as the oracle needs it, which is stricter than the evaluation: the same column
names in the same order, and the same multiset of rows with cells as
``nl2sql.results.cell_values`` forms them. Two errors are the same if their SQLSTATE is, or if both
are of class 42: such a statement was never run, so its error can depend on no row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nl2sql.results.cell_values import normalize_value

_MOST_SHOWN = 3
_MOST_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """Columns and rows, or an error; ``complete`` is false where rows were left out."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    sqlstate: str = ""
    message: str = ""
    complete: bool = True

    @property
    def failed(self) -> bool:
        """True when it is an error."""
        return bool(self.sqlstate)

    @property
    def is_unreadable(self) -> bool:
        """True when the text was no statement that could run: class 42, or bytes that are none."""
        return self.sqlstate.startswith("42") or self.sqlstate == "22021"

    @property
    def timed_out(self) -> bool:
        """True when the statement was stopped for its time (query_canceled)."""
        return self.sqlstate == "57014"


def bind_values(params: Iterable[object]) -> list[object]:
    """The values of a statement as the drivers take them: a list for a tuple."""
    return [list(value) if isinstance(value, tuple) else value for value in params]


def describe_difference(expected: Outcome, actual: Outcome) -> str:
    """What differs, in words; empty when both are the same.

    >>> describe_difference(Outcome(("a",), ((1,), (2,))), Outcome(("a",), ((2,), (1,))))
    ''
    >>> describe_difference(Outcome(("a",), ((1,),)), Outcome(("a",), ((1,), (7,))))
    'rows differ: 1 and 2; missing none; too many (7,)'
    """
    if expected.failed or actual.failed:
        states = (expected.sqlstate, actual.sqlstate)
        if states[0] == states[1] or all(state.startswith("42") for state in states):
            return ""
        return f"{_describe_end(expected)} became {_describe_end(actual)}"
    if expected.columns != actual.columns:
        return f"columns {expected.columns} became {actual.columns}"
    left, right = _count_rows(expected), _count_rows(actual)
    if left == right and expected.complete == actual.complete:
        return ""
    return (
        f"rows differ: {len(expected.rows)} and {len(actual.rows)}; "
        f"missing {_show_rows(left - right)}; too many {_show_rows(right - left)}"
    )


def is_part(part: Outcome, whole: Outcome) -> bool:
    """Whether all rows of ``part`` are among those of ``whole``, as often.

    >>> is_part(Outcome(("a",), ((1,),)), Outcome(("a",), ((2,), (1,))))
    True
    """
    if part.failed or whole.failed or whole.columns != part.columns:
        return False
    return _count_rows(part) <= _count_rows(whole)


def _count_rows(outcome: Outcome) -> Counter[tuple[object, ...]]:
    return Counter(tuple(map(normalize_value, row)) for row in outcome.rows)


def _describe_end(outcome: Outcome) -> str:
    if not outcome.failed:
        return f"{len(outcome.rows)} rows"
    return f"error {outcome.sqlstate} ({outcome.message})"


def _show_rows(rows: Iterable[tuple[object, ...]]) -> str:
    shown = [repr(row)[:_MOST_CHARACTERS] for row, _ in zip(rows, range(_MOST_SHOWN), strict=False)]
    return ", ".join(shown) or "none"
