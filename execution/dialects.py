"""Under what sqlglot reads and writes each dialect here."""

from __future__ import annotations

from sqlglot.dialects.dialect import DialectType

from execution.sqlite_dialect import GuardedSqlite

READERS: dict[str, DialectType] = {
    "postgres": "postgres",
    "sqlite": GuardedSqlite,
    "duckdb": "duckdb",
}
