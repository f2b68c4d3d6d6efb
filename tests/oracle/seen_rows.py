"""Which rows each role sees of each table, worked out by the database, parents first.

Rows of tables that INHERIT are in their parents too, so that a ctid needs its table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from tests.oracle.grants import Grant, Grants

_KEYS = """
SELECT n.nspname || '.' || c.relname,
       (SELECT array_agg(a.attname::text ORDER BY u.ord)
          FROM unnest(k.conkey) WITH ORDINALITY AS u(attnum, ord)
          JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum),
       (SELECT array_agg(a.attname::text ORDER BY u.ord)
          FROM unnest(k.confkey) WITH ORDINALITY AS u(attnum, ord)
          JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.attnum),
       tn.nspname || '.' || t.relname
  FROM pg_constraint k
  JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_class t ON t.oid = k.confrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
 WHERE k.contype = 'f'
"""

ROW: LiteralString = "t.tableoid AS row_table, t.ctid AS row_id"
"""What identifies a row of ``t``, as outputs."""
_IS_SEEN: LiteralString = "(t.tableoid, t.ctid) IN (SELECT row_table, row_id FROM {})"


class SeenRows:
    """What each role sees of each table, as temporary tables of row identifiers and rows."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        sources: Mapping[str, sql.Identifier],
        roles: Sequence[Grants],
    ) -> None:
        """``sources`` gives for each table what its rows are read from."""
        self._connection = connection
        self._sources = sources
        self._roles = roles
        self._names: dict[tuple[int, str], sql.Identifier] = {}
        self._keys: dict[tuple[str, tuple[str, ...], str], tuple[str, ...]] = {}
        for table, columns, targets, target in connection.execute(_KEYS).fetchall():
            self._keys[table, tuple(columns), target] = tuple(targets)

    def find(self, role: int, table: str) -> sql.Identifier | None:
        """The temporary table of rows with what identifies them; None when every row is seen."""
        grant = self._roles[role][table]
        if not (grant.condition or grant.parent):
            return None
        if (role, table) not in self._names:
            # Entered after it is made: its parents' tables are made on the way there.
            condition = self._render_condition(role, table, grant)
            name = sql.Identifier(f"seen_{role}_{len(self._names)}")
            statement = sql.SQL("CREATE TEMP TABLE {} AS SELECT " + ROW + ", t.* FROM {} t")
            self._connection.execute(
                statement.format(name, self._sources[table]) + sql.SQL(" WHERE ") + condition
            )
            self._names[role, table] = name
        return self._names[role, table]

    def _render_condition(self, role: int, table: str, grant: Grant) -> sql.Composable:
        parent = grant.parent
        if parent is None:
            return sql.SQL(grant.condition)
        targets = parent.targets or self._find_targets(table, parent.columns, parent.table)
        source = self.find(role, parent.table) or self._sources[parent.table]
        return sql.SQL("({}) IN (SELECT {} FROM {})").format(
            sql.SQL(", ").join(sql.Identifier("t", column) for column in parent.columns),
            sql.SQL(", ").join(map(sql.Identifier, targets)),
            source,
        )

    def _find_targets(self, table: str, columns: tuple[str, ...], target: str) -> tuple[str, ...]:
        for (name, named, other), targets in self._keys.items():
            if (name, other) == (table, target) and set(named) == set(columns):
                paired = dict(zip(named, targets, strict=True))
                return tuple(paired[column] for column in columns)
        raise ValueError(f"no foreign key {table}({', '.join(columns)}) → {target}")


def render_seen(tables: Iterable[sql.Identifier | None]) -> sql.Composable:
    """True for a row that is in one of the tables of what is seen; None is every row."""
    found = list(tables)
    if None in found:
        return sql.SQL("true")
    parts = [sql.SQL(_IS_SEEN).format(name) for name in found]
    return sql.SQL(" OR ").join(parts) if parts else sql.SQL("false")
