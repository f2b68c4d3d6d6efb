"""What key inference asks of a database: whether one column's values stand in another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nl2sql.catalog import Table


@dataclass(frozen=True, slots=True)
class Containment:
    """How many distinct values were sampled, and how many of them the target has."""

    sampled: int
    found: int


class Sampler(Protocol):
    """Looks at the values of a database, read-only, with little work for each question."""

    def contain(
        self, table: Table, columns: tuple[str, ...], target: Table, target_columns: tuple[str, ...]
    ) -> Containment | None:
        """How many values of some rows of ``table`` stand in ``target``; None when it cannot tell.

        It cannot where the role may not read, or where it takes too long.
        """
        ...

    def is_unique(self, table: Table, columns: tuple[str, ...]) -> bool:
        """Whether no two of the rows looked at are equal there, and none is NULL."""
        ...
