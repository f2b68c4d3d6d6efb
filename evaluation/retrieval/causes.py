"""Classifies why a table was missed, by rules over the record.

The first rule that holds names the cause. The rules use only the results of the search, so a cause
says where to look, not what to change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evaluation.retrieval.records import MissedTable


@dataclass(frozen=True, slots=True)
class Cause:
    """``name`` is for files, ``text`` for people; ``holds(missed table, budget)`` is the rule."""

    name: str
    text: str
    holds: Callable[[MissedTable, int], bool]


CAUSES = (
    Cause(
        "namesake",
        "a table of the same name in another schema was found instead",
        lambda missed, budget: bool(missed.namesake),
    ),
    Cause(
        "just_outside",
        "ranked just outside the budget, within twice the budget",
        lambda missed, budget: missed.rank is not None and missed.rank <= 2 * budget,
    ),
    Cause(
        "key_away",
        "one foreign key away from a table that was found",
        lambda missed, budget: bool(missed.neighbour),
    ),
    Cause(
        "no_word",
        "no word in common with the question, and a low cosine rank",
        lambda missed, budget: not missed.shared_words,
    ),
    Cause(
        "other_schema",
        "only tables of other schemas were found",
        lambda missed, budget: not missed.schema_shown,
    ),
    Cause("outranked", "shares words, but many tables rank higher", lambda missed, budget: True),
)


def find_cause(missed: MissedTable, budget: int) -> Cause:
    """The cause of one miss.

    >>> find_cause(MissedTable(table="a.orders", rank=14, namesake="b.orders"), 12).name
    'namesake'
    >>> find_cause(MissedTable(table="a.orders", rank=14), 12).name
    'just_outside'
    """
    return next(cause for cause in CAUSES if cause.holds(missed, budget))
