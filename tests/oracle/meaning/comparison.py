"""The verdict on one statement: what original and rewritten text give on the same rows.

same        the same names, types and values in the same order
failed      both fail
refused     the guard refuses it
different   anything else: what runs means something else
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nl2sql.types import GuardedQuery, Violation
from tests.oracle.tally import KindCounts
from tests.oracle.verdicts import Guarding

Answer = tuple[object, ...] | Exception
"""Names, types and rows of a result, in a form that compares values of different types unequal."""

Run = Callable[[str, tuple[object, ...]], Answer]
"""Runs a text with parameters."""

_MOST_EXAMPLES = 3


class Kind(StrEnum):
    """See the head of this module."""

    SAME = "same"
    FAILED = "failed"
    REFUSED = "refused"
    DIFFERENT = "different"


@dataclass
class MeaningTally(KindCounts[Kind]):
    """Counts by guard; differences are kept, of refusals of queries that run a few examples."""

    differences: list[str] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def render(self) -> str:
        """The table by guard, harmless refusals by reason, and every difference in full."""
        return "\n".join(self._render_lines())

    def _render_lines(self) -> Iterator[str]:
        yield from self.render_table("guard", "statements", Kind)
        for reason, number in self.refusals.most_common():
            yield f"refused {number:,} that run: {reason}"
            yield from (f"  {text}" for text in self.examples[reason])
        yield from self.differences


def compare_meanings(
    statements: Iterable[str], guards: Mapping[str, Guarding], run: Run, rng: random.Random
) -> MeaningTally:
    """Judges each statement with one of the guards, drawn at random."""
    tally = MeaningTally()
    names = list(guards)
    for statement in statements:
        name = rng.choice(names)
        tally.counts[name, _judge(statement, guards[name](statement), run, tally)] += 1
    return tally


def _judge(
    statement: str, guarded: GuardedQuery | Violation, run: Run, tally: MeaningTally
) -> Kind:
    expected = run(statement, ())
    if isinstance(guarded, Violation):
        if not isinstance(expected, Exception):
            reason = f"{guarded.code}: {guarded.message[:50]}"
            tally.refusals[reason] += 1
            examples = tally.examples.setdefault(reason, [])
            if len(examples) < _MOST_EXAMPLES:
                examples.append(statement)
        return Kind.REFUSED
    actual = run(guarded.sql, guarded.params)
    if isinstance(expected, Exception) and isinstance(actual, Exception):
        return Kind.FAILED
    if not isinstance(expected, Exception) and expected == actual:
        return Kind.SAME
    shown = (repr(answer)[:400] for answer in (expected, actual))
    tally.differences.append(
        "\n  ".join((f"original:  {statement}", f"rewritten: {guarded.sql}", *shown))
    )
    return Kind.DIFFERENT
