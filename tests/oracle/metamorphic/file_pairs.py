"""Pairs of files, SQLite's or DuckDB's: the warehouse, and it with what is hidden changed.

The file is written anew, with its rows in the same order; what is hidden is told apart here, from
what ``warehouse.py`` says in words. SQLite's is analysed; DuckDB keeps statistics by itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb

from execution.duckdb.database import DuckDbDatabase
from execution.sqlite.database import SqliteDatabase
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery, Principal
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.oracle.corpus import Query
from tests.oracle.file_sessions import SqliteSession
from tests.oracle.metamorphic import warehouse
from tests.oracle.metamorphic.error_probes import Values
from tests.oracle.metamorphic.hidden_values import INTEGERS, TEXTS
from tests.oracle.metamorphic.observations import Side
from tests.oracle.metamorphic.pairs import Pairs
from tests.oracle.metamorphic.postgres_changes import Change
from tests.oracle.metamorphic.verdicts import Settling
from tests.oracle.metamorphic.warehouse import Row
from tests.oracle.outcomes import describe_difference
from tests.oracle.stage import Subject

LIMITS = LimitSettings(
    statement_timeout_ms=3000, explain_timeout_ms=3000, pool_size=1, duckdb_memory_mib=256
)
_PRAGMAS = ("reverse_unordered_selects = ON", "automatic_index = OFF")
# Places of columns in a row of the items, and what may stand there. Other columns decide.
_NAME, _PAY, _NOTE, _AMOUNT, _PRICE, _DAY = range(2, 8)
_MASKED: dict[str, dict[int, Sequence[object]]] = {"items": {_PAY: INTEGERS, _NOTE: TEXTS}}
_HIDDEN: dict[str, dict[int, Sequence[object]]] = {
    "items": {
        **_MASKED["items"],
        _NAME: TEXTS,
        _AMOUNT: INTEGERS,
        _PRICE: (7777.0, 0.0, -1.0, 1e308),
        _DAY: ("9999-12-31", "0001-01-01", "2024-02-29"),
    },
    "parts": {2: TEXTS, 3: INTEGERS},
}
_ADDED = 10_000

Tables = dict[str, list[Row]]


class FilePairs(Pairs):
    """Judges pairs in ``folder`` for one dialect, ``sqlite`` or ``duckdb``."""

    def __init__(self, folder: Path, dialect: str) -> None:
        """Raises OSError, sqlite3.Error, duckdb.Error."""
        self._dialect = dialect
        self._folder = folder
        self._left = self._right = folder / f"left.{dialect}"
        self._rows = warehouse.build_rows()
        _write_file(self._left, dialect, self._rows)
        read = read_duckdb_catalog if dialect == "duckdb" else read_sqlite_catalog
        catalog = read(self._left, database=warehouse.NAME)
        super().__init__(Subject(warehouse.NAME, catalog, warehouse.POLICY, warehouse.GOLDS))

    def _list_corpus(self) -> Sequence[Query]:
        return [Query(name, "gold", text) for name, text in self.subject.golds]

    def _read_values(self) -> Values:
        return {}

    def _iterate_changes(self, principal: Principal, changes: Sequence[Change]) -> Iterator[Change]:
        for change in changes:
            changed = change_rows(self._rows, principal, change)
            if changed != self._rows:
                # DuckDB may know a file of the same name from before.
                self._right = self._folder / f"{principal.name}_{change}.{self._dialect}"
                _write_file(self._right, self._dialect, changed)
                yield change
                self._right.unlink()

    @contextmanager
    def _open_sides(self) -> Iterator[tuple[Side, Side, Settling]]:
        kind = DuckDbDatabase if self._dialect == "duckdb" else SqliteDatabase
        left, right = (
            Side(kind(warehouse.NAME, path, LIMITS), self._runner)
            for path in (self._left, self._right)
        )
        yield left, right, self._answers_otherwise

    def _answers_otherwise(self, query: GuardedQuery) -> bool:
        """Whether SQLite gives several answers to the query; DuckDB's plan cannot be changed."""
        if self._dialect == "duckdb":
            return False
        answers = []
        for pragmas in ((), *((pragma,) for pragma in _PRAGMAS)):
            with closing(SqliteSession(self._left, timeout_s=3.0, pragmas=pragmas)) as session:
                answers.append(session.run(query.sql, query.params))
        return any(describe_difference(answers[0], answer) for answer in answers[1:])


def change_rows(rows: Tables, principal: Principal, change: Change) -> Tables:
    """The warehouse's rows with what is hidden from the principal changed."""
    owner = dict(principal.attributes).get("owner")
    owned = {row[0] for row in rows["items"] if owner is None or row[1] == owner}
    changed = {"codes": rows["codes"], "secrets": rows["secrets"]}
    for table, key in (("items", 0), ("parts", 1)):
        changed[table] = [
            new
            for row in rows[table]
            for new in _change_row(table, row, change, seen=row[key] in owned, whole=owner is None)
        ]
    return changed


def _change_row(table: str, row: Row, change: Change, *, seen: bool, whole: bool) -> Iterator[Row]:
    """What takes the place of a row: ``seen`` if it is seen; ``whole`` if all rows are."""
    if change is Change.DELETED:
        if seen:
            yield row
        return
    if change is Change.ADDED:
        yield row
        if not seen:
            number, *rest = row
            assert isinstance(number, int)
            yield (number + _ADDED, *rest)
        return
    values = _HIDDEN[table] if not seen else _MASKED.get(table, {})
    if whole:
        values = {_NAME: TEXTS, **values} if table == "items" else {}
    yield tuple(
        _draw(values[place], row[0], change) if place in values else value
        for place, value in enumerate(row)
    )


def _draw(pool: Sequence[object], number: object, change: Change) -> object:
    assert isinstance(number, int)
    if change is Change.NULLS:
        return None
    return pool[0 if change is Change.SAME else number % len(pool)]


def _write_file(path: Path, dialect: str, rows: Tables) -> None:
    statements = [
        (f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)
        for table, found in rows.items()
        if found
    ]
    if dialect == "duckdb":
        with closing(duckdb.connect(str(path))) as duck:
            duck.execute(warehouse.SCRIPT)
            duck.execute("BEGIN")
            for insert, found in statements:
                duck.executemany(insert, found)
            duck.execute("COMMIT")
        return
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(warehouse.SCRIPT)
        for insert, found in statements:
            connection.executemany(insert, found)
        connection.execute("ANALYZE")
        connection.commit()
