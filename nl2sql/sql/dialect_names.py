"""The supported SQL dialects, under sqlglot's names."""

from __future__ import annotations

_NAMES = {"postgres": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB"}


def dialect_name(dialect: str) -> str:
    """The usual name of a dialect. Raises KeyError for one that is not supported.

    >>> dialect_name("postgres")
    'PostgreSQL'
    """
    return _NAMES[dialect]
