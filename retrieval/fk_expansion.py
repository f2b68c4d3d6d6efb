"""Tables one foreign key away from what search found.

A bridge table shares no word with the question that needs it. Those that connect two found tables
come first, then the neighbours of the best-ranked tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.catalog import ForeignKey


def expand_by_foreign_keys(
    found: Sequence[str], foreign_keys: Sequence[ForeignKey], limit: int
) -> list[str]:
    """At most ``limit`` neighbours (qualified names) of ``found``, which is in falling rank.

    A neighbour's rank: how many found tables it touches, then the best of their ranks, then name.
    """
    rank = {table: position for position, table in enumerate(found)}
    touched: dict[str, set[str]] = {}
    for key in foreign_keys:
        for inside, outside in ((key.table, key.target), (key.target, key.table)):
            if inside in rank and outside not in rank:
                touched.setdefault(outside, set()).add(inside)
    order = sorted(
        touched,
        key=lambda name: (-len(touched[name]), min(rank[t] for t in touched[name]), name),
    )
    return order[:limit]
