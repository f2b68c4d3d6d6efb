"""What indexing reads of a database, which each kind of database implements.

All read as the role that runs questions, in read-only mode, so that nothing is indexed or inferred
from data that this role may not read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from nl2sql.catalog import Catalog, Table
from nl2sql.errors import DatabaseUnavailable
from nl2sql.sql.column_kinds import Kind, find_kind
from nl2sql.sql.names import enquote

# The samples of key inference: a query reads few rows, chosen by the database, and stops soon, so
# that huge or slow tables cost little.
_MOST_ROWS = 5000
_MOST_VALUES = 200
_SAMPLE_TIMEOUT_MS = 2000


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
    """Why a query gave no rows. ``timed_out``: the rest of its table is not tried."""

    reason: str
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Containment:
    """The number of distinct values sampled, and how many of them the target contains."""

    sampled: int
    found: int


class _SourceConnection(Protocol):
    def close(self) -> None: ...


_Opened = TypeVar("_Opened", bound=_SourceConnection)


class SourceDatabase(ABC, Generic[_Opened]):
    """Reads what queries on the database may read, and never writes.

    A with statement opens the connection that reads the values of text columns, and samples for key
    inference; calls come one after another, from any thread. The queries are the same for all kinds
    of database; only quoted names and whole numbers are inserted into them. All methods raise
    DatabaseUnavailable.
    """

    errors: ClassVar[type[Exception]]
    """What the driver raises."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._connection: _Opened | None = None

    @abstractmethod
    def read_catalog(self) -> Catalog:
        """The present schema, limited to what the reader may see."""

    @abstractmethod
    def _connect(self) -> _Opened:
        """A new connection. Raises ``errors``."""

    def __enter__(self) -> Self:
        """Opens the connection."""
        try:
            self._connection = self._connect()
        except self.errors as error:
            raise self._build_unavailable(error) from error
        return self

    @property
    def _open(self) -> _Opened:
        assert self._connection is not None, "use it in a with statement"
        return self._connection

    @abstractmethod
    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        """All text columns of these tables; ``most`` and ``longest`` as for ``read``."""

    @abstractmethod
    def fetch(self, query: str, timeout_ms: int) -> list[tuple[Any, ...]] | Unreadable:
        """All rows of a query, or why there are none."""

    def __exit__(self, *error: object) -> None:
        """Closes the connection."""
        if self._connection is not None:
            self._connection.close()

    def read(
        self, table: Table, column: str, *, most: int, longest: int, timeout_ms: int
    ) -> tuple[str, ...] | Unreadable:
        """At most ``most`` distinct values of 1 to ``longest`` characters."""
        text = self._write_text(enquote(column))
        found = self.fetch(
            f"SELECT DISTINCT {text} FROM {self._name(table)}"
            f" WHERE {self._write_condition(enquote(column))}length({text}) BETWEEN 1 AND"
            f" {longest:d} LIMIT {most:d}",
            timeout_ms,
        )
        return found if isinstance(found, Unreadable) else tuple(row[0] for row in found)

    def contain(
        self, table: Table, column: str, target: Table, target_column: str
    ) -> Containment | None:
        """How many sampled values of ``table`` occur in ``target``.

        None if the role may not read them, or the query takes too long.
        """
        name = enquote(column)
        rows = f"SELECT {name} FROM {self._name(table)} WHERE {name} IS NOT NULL LIMIT {_MOST_ROWS}"
        values = f"SELECT DISTINCT {name} FROM ({rows}) AS r LIMIT {_MOST_VALUES}"
        equal = f"t.{enquote(target_column)} = v.{name}"
        found = f"EXISTS (SELECT 1 FROM {self._name(target)} AS t WHERE {equal})"
        row = self._sample(
            "SELECT count(*), coalesce(sum(p.found), 0) FROM ("
            f"SELECT CASE WHEN {found} THEN 1 ELSE 0 END AS found FROM ({values}) AS v) AS p"
        )
        return Containment(row[0], row[1]) if row is not None else None

    def is_unique(self, table: Table, column: str) -> bool:
        """Whether the sampled rows have no equal and no NULL values in ``column``."""
        name = enquote(column)
        rows = f"SELECT {name} FROM {self._name(table)} LIMIT {_MOST_ROWS}"
        row = self._sample(f"SELECT count(*), count(DISTINCT {name}) FROM ({rows}) AS r")
        return row is not None and row[0] > 0 and row[0] == row[1]

    def _sample(self, query: str) -> tuple[Any, ...] | None:
        found = self.fetch(query, _SAMPLE_TIMEOUT_MS)
        return None if isinstance(found, Unreadable) else found[0]

    # -- what differs between the kinds --------------------------------------------------------

    def _name(self, table: Table) -> str:
        return enquote(table.schema, table.name)

    def _write_text(self, column: str) -> str:
        return column

    def _write_condition(self, column: str) -> str:
        """A condition that ends in AND, or nothing."""
        return ""

    def _describe(self, error: Exception) -> str:
        """The first line of a driver's message, or the name of its class."""
        return (str(error).strip() or type(error).__name__).split("\n", 1)[0]

    def _build_unavailable(self, error: Exception) -> DatabaseUnavailable:
        """The error for a database that does not answer."""
        return DatabaseUnavailable(
            f"Cannot read values of {self._database}: {self._describe(error)}",
            database=self._database,
        )


class FileSource(SourceDatabase[_Opened]):
    """The file at ``path``; its columns of ``kinds`` may hold text, and its log ends in ``log``."""

    dialect: ClassVar[str]
    kinds: ClassVar[Set[Kind]]
    log: ClassVar[str]

    def __init__(self, database: str, path: Path) -> None:
        super().__init__(database)
        self._path = path

    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        """All columns of these kinds, without statistics; views have none of their own."""
        mark = self._read_mark()
        return [
            TextColumn(table, column.name, mark)
            for table in tables
            if table.kind == "table"
            for column in table.columns
            if find_kind(column.type, self.dialect) in self.kinds
        ]

    def _read_mark(self) -> str:
        """Modification time and size of the file and of its log; empty if it cannot be read."""
        found = []
        for file in (self._path, self._path.with_name(self._path.name + self.log)):
            with suppress(OSError):
                status = file.stat()
                found.append(f"{status.st_mtime_ns} {status.st_size}")
        return ", ".join(found)
