"""What indexing reads of a database, by protocols that each kind of database implements.

All read as the role that runs questions, in read-only mode, so that nothing is indexed or inferred
from data that this role may not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from nl2sql.catalog import Catalog, Table


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


class _Closable(Protocol):
    def close(self) -> None: ...


class HeldConnection:
    """Closes ``_connection``, which the subclass opens in ``__enter__``, when the block ends."""

    _connection: _Closable | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class SourceDatabase(Protocol):
    """Reads what queries on the database may read, and never writes.

    All methods, and entering what they return, raise DatabaseUnavailable.
    """

    def read_catalog(self) -> Catalog:
        """The present schema, limited to what the reader may see."""
        ...

    def build_value_reader(self) -> ValueReader:
        """A reader of distinct values; entering it opens a connection."""
        ...

    def open_sampler(self) -> AbstractContextManager[Sampler]:
        """A sampler of values for key inference."""
        ...
