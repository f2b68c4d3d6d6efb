"""All that a principal sees of one guarded query, through the product's own connection."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, replace

from execution.executor import Database
from nl2sql.results.cell_values import normalize_value
from nl2sql.types import TOO_COMPLEX, Diagnostic, Explained, GuardedQuery, ResultSet

MOST_ROWS = 1000
_LATE = "57014"
_SLOW_MS = 1000.0


@dataclass(frozen=True, slots=True)
class Observation:
    """``failure`` is why EXPLAIN failed; times are milliseconds, ``plan`` is never shown."""

    failure: Diagnostic | None
    result: ResultSet | Diagnostic
    explain_ms: float
    execute_ms: float
    plan: str

    @property
    def is_too_large(self) -> bool:
        """True when the query was not run for what its plan expects."""
        return self._has_failed(TOO_COMPLEX)

    @property
    def is_late(self) -> bool:
        """True when planning or running was stopped for its time."""
        return self._has_failed(_LATE)

    def _has_failed(self, sqlstate: str) -> bool:
        answers = (self.failure, self.result)
        return any(isinstance(a, Diagnostic) and a.sqlstate == sqlstate for a in answers)


class Side:
    """One of the two databases, with what was observed there."""

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
        return Observation(
            explained if isinstance(explained, Diagnostic) else None,
            result,
            (middle - start) * 1000,
            (end - middle) * 1000,
            str(explained.cost) if isinstance(explained, Explained) else "",
        )


def describe_difference(left: Observation, right: Observation) -> str:
    """What differs, in words; empty when all that is seen is the same, the times left out.

    Rows are compared as multisets of cells in the form of the oracle, see ``has_same_order``.
    """
    if _show(left.failure) != _show(right.failure):
        return f"EXPLAIN: {_show(left.failure)} became {_show(right.failure)}"
    one, other = left.result, right.result
    if isinstance(one, Diagnostic) or isinstance(other, Diagnostic):
        return "" if _show(one) == _show(other) else f"{_show(one)} became {_show(other)}"
    for name in ("columns", "types", "truncated"):
        if getattr(one, name) != getattr(other, name):
            return f"{name}: {getattr(one, name)} became {getattr(other, name)}"
    before, after = Counter(_list_rows(one)), Counter(_list_rows(other))
    if before != after:
        lost, won = ([*(a - b)][:3] for a, b in ((before, after), (after, before)))
        return f"rows differ: {len(one.rows)} and {len(other.rows)}; lost {lost}; won {won}"
    return "" if len(one.cut) == len(other.cut) else f"cut: {one.cut} became {other.cut}"


def has_same_order(left: Observation, right: Observation) -> bool:
    """Whether the rows, or none, come in the same order."""
    one, other = left.result, right.result
    if isinstance(one, Diagnostic) or isinstance(other, Diagnostic):
        return True
    return _list_rows(one) == _list_rows(other)


def find_quickest(seen: list[Observation]) -> Observation:
    """The first observation, with the shortest times of all of them."""
    return replace(
        seen[0],
        explain_ms=min(observation.explain_ms for observation in seen),
        execute_ms=min(observation.execute_ms for observation in seen),
    )


def has_other_time(left: Observation, right: Observation) -> bool:
    """Whether planning or running takes a second on one side, and less than half on the other."""
    pairs = ((left.explain_ms, right.explain_ms), (left.execute_ms, right.execute_ms))
    return any(max(pair) >= _SLOW_MS and min(pair) < _SLOW_MS / 2 for pair in pairs)


def _list_rows(result: ResultSet) -> list[tuple[object, ...]]:
    return [tuple(map(normalize_value, row)) for row in result.rows]


def _show(answer: ResultSet | Diagnostic | None) -> str:
    """What a principal sees of an answer, without estimates."""
    if isinstance(answer, Diagnostic):
        return repr(replace(answer, explained=None))
    return "no error" if answer is None else f"{len(answer.rows)} rows"
