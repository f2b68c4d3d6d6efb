"""The protocol by which key inference checks whether one column's values occur in another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nl2sql.catalog import Table


@dataclass(frozen=True, slots=True)
class Containment:
    """The number of distinct values sampled, and how many of them the target contains."""

    sampled: int
    found: int


class Sampler(Protocol):
    """Samples the values of a database, read-only, with small queries."""

    def contain(
        self, table: Table, columns: tuple[str, ...], target: Table, target_columns: tuple[str, ...]
    ) -> Containment | None:
        """How many sampled values of ``table`` occur in ``target``.

        None if the role may not read them, or the query takes too long.
        """
        ...

    def is_unique(self, table: Table, columns: tuple[str, ...]) -> bool:
        """Whether the sampled rows have no equal and no NULL values in ``columns``."""
        ...
