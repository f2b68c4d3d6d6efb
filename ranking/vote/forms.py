"""The different results of a vote, each with a number."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from nl2sql.results.equivalence import ComparedRows
from nl2sql.types import ResultSet


class Forms:
    """The first result of each form."""

    def __init__(self) -> None:
        self._count = 0
        self._known: dict[Hashable, list[tuple[int, ComparedRows]]] = {}

    def find(self, result: ResultSet) -> int:
        """The number of an equal result, or a new one.

        A page never equals a complete result, which has no more rows.
        """
        return self.find_rows(result.rows, truncated=result.truncated)

    def find_rows(self, rows: Sequence[Sequence[object]], *, truncated: bool = False) -> int:
        """The number of equal rows, or a new one."""
        compared = ComparedRows(rows)
        alike = self._known.setdefault((truncated, compared.profile), [])
        for number, other in alike:
            if compared.is_equivalent_to(other):
                return number
        alike.append((self._count, compared))
        self._count += 1
        return self._count - 1
