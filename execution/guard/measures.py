"""What is measured of an expression, and how long a measure of a recursive query holds.

A recursive query is measured step by step. What was found out while it was followed rests on the
step that was under way, and holds until the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from sqlglot import exp

from execution.guard.growth_glance import COLUMN_BYTES

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Measure(NamedTuple):
    """Nodes of an expression, bytes of its value, and whether that is a list.

    A list has its quotes doubled once more by what makes a text of it, or puts it into another.
    ``made`` is what was made longer of a whole row's columns, 0 for what is no row.
    """

    nodes: float
    size: float
    is_list: bool = False
    made: float = 0.0


BASE = Measure(1.0, COLUMN_BYTES)


def find_largest(parts: Sequence[Measure]) -> Measure:
    """The most nodes and the most bytes of any part."""
    return Measure(
        max((part.nodes for part in parts), default=1.0),
        max((part.size for part in parts), default=COLUMN_BYTES),
        any(part.is_list for part in parts),
    )


def find_named(columns: Sequence[tuple[str, Measure]], name: str) -> Measure:
    """The column of that name; the largest of all if none is called so."""
    named = [measure for own, measure in columns if name and own == name]
    return find_largest(named or [measure for _, measure in columns])._replace(nodes=1.0)


class _Steps(NamedTuple):
    """A step of a recursive query: its number among all steps, and each column as it is taken."""

    number: int
    columns: Sequence[tuple[str, Measure]]


class Known(NamedTuple, Generic[_Value]):
    """What was found out, and the steps of recursive queries (by ``id``) on which that rests."""

    value: _Value
    steps: dict[int, int]


class StepMemory:
    """Tells whether what was found out still holds, by the steps on which it rests."""

    def __init__(self) -> None:
        # Recursive queries that are followed just now, by their ``id``.
        self._assumed: dict[int, _Steps] = {}
        self._steps = 0
        # The steps on which what is measured just now has turned out to rest.
        self._rests_on: dict[int, int] = {}

    def assume(self, query: exp.Expr, columns: Sequence[tuple[str, Measure]]) -> None:
        """Begins the next step of a recursive query, whose own columns are taken for these."""
        self._steps += 1
        self._assumed[id(query)] = _Steps(self._steps, columns)

    def end(self, query: exp.Expr) -> None:
        """Forgets what was assumed of a recursive query, which has been followed to its end."""
        del self._assumed[id(query)]

    def find_assumed(self, query: exp.Expr) -> Sequence[tuple[str, Measure]] | None:
        """The columns that are assumed of a query; what is measured rests on them then."""
        assumed = self._assumed.get(id(query))
        if assumed is None:
            return None
        self._rests_on[id(query)] = assumed.number
        return assumed.columns

    def find_out(
        self, known: dict[_Key, Known[_Value]], key: _Key, find: Callable[[], _Value]
    ) -> _Value:
        """What is known already and rests on no step but those under way, or what is found now."""
        found = known.get(key)
        if found is None or not self._still_holds(found):
            outer, self._rests_on = self._rests_on, {}
            value = find()
            # Steps of a recursion that has been followed to its end meanwhile are no matter.
            steps = {query: at for query, at in self._rests_on.items() if query in self._assumed}
            found = known[key] = Known(value, steps)
            self._rests_on = outer
        self._rests_on.update(found.steps)
        return found.value

    def _still_holds(self, known: Known[Any]) -> bool:
        return all(
            query in self._assumed and self._assumed[query].number == at
            for query, at in known.steps.items()
        )
