"""The tables that a question requires: finds them by name, and those that connect them.

Tables are numbers where keys are followed: positions in the visible catalog.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from nl2sql.catalog import Catalog, Table
from nl2sql.errors import InvalidRequest
from retrieval.search.key_walk import Neighbours

# Tables between two required ones; longer paths are rarely meant.
_MOST_BETWEEN = 3


def find_table(catalog: Catalog, name: str) -> Table | None:
    """The table of a name as people and queries write it: with or without schema or quotes."""
    plain = name.strip().replace('"', "")
    if table := catalog.table(plain):
        return table
    schema, _, short = plain.rpartition(".")
    if found := catalog.resolve(short, schema) or catalog.resolve(short.lower(), schema.lower()):
        return found
    # A name that only one schema has, though the search path does not list it.
    same = [table for table in catalog.tables if not schema and table.name == short]
    return same[0] if len(same) == 1 else None


def find_required(catalog: Catalog, names: Iterable[str]) -> tuple[str, ...]:
    """The qualified names of the tables, without repetitions; ``catalog`` is the visible one.

    Raises InvalidRequest for a name under which nothing is visible, with the most similar visible
    name: a hidden table is as unknown as one that does not exist.
    """
    found: dict[str, None] = {}
    for name in names:
        table = find_table(catalog, name)
        if table is None:
            near = get_close_matches(name, catalog.short_names.values(), n=1)
            raise InvalidRequest(
                f"There is no table {name!r} in {catalog.database}.",
                field="tables",
                hint=f"Did you mean {near[0]}?" if near else "",
            )
        found[table.qualified] = None
    return tuple(found)


def connect_tables(required: Sequence[int], neighbours: Neighbours) -> list[int]:
    """The required tables, and those on the shortest paths over keys between them.

    >>> connect_tables([1, 4], {1: {2}, 2: {1, 3}, 3: {2, 4}, 4: {3}})
    [1, 4, 2, 3]
    """
    joined = list(required[:1])
    between: list[int] = []
    for target in required[1:]:
        path = _find_path({*joined, *between}, target, neighbours)
        between += [table for table in path if table not in required and table not in between]
        joined.append(target)
    return [*required, *between]


def _find_path(starts: set[int], target: int, neighbours: Neighbours) -> list[int]:
    """The tables between the target and the nearest start; none if they are too many."""
    before: dict[int, int | None] = {target: None}
    lengths = {target: 0}
    waiting = deque([target])
    while waiting:
        here = waiting.popleft()
        if here in starts:
            path = []
            step = before[here]
            while step is not None and step != target:
                path.append(step)
                step = before[step]
            return path
        if lengths[here] > _MOST_BETWEEN:
            continue
        for other in sorted(neighbours.get(here, ())):
            if other not in before:
                before[other], lengths[other] = here, lengths[here] + 1
                waiting.append(other)
    return []
