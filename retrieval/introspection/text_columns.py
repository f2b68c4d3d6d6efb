"""The protocol by which the value index reads text columns and their distinct values.

Each kind of database implements it. All read as the reader's role, in read-only mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from nl2sql.catalog import Table


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A readable text column.

    ``mark`` changes with the table's rows; empty if changes cannot be recognised. ``objection``
    says why its values are not read according to the statistics; empty if they are.
    """

    table: Table
    column: str
    mark: str
    objection: str = ""

    @property
    def qualified(self) -> str:
        """``schema.table.column``."""
        return f"{self.table.qualified}.{self.column}"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a column could not be read. ``timed_out``: the rest of its table is not tried."""

    reason: str
    timed_out: bool = False


class ValueReader(Protocol):
    """An open connection to one database. Calls come one after another, from any thread."""

    def __enter__(self) -> Self:
        """Opens the connection. Raise DatabaseUnavailable."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        """All text columns of these tables; ``most`` and ``longest`` as for ``read``.

        Raise DatabaseUnavailable.
        """
        ...

    def read(
        self, table: Table, column: str, *, most: int, longest: int, timeout_ms: int
    ) -> tuple[str, ...] | Unreadable:
        """At most ``most`` distinct values of 1 to ``longest`` characters."""
        ...
