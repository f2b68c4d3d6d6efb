"""The types of benchmarks: questions, the queries that answer them, and their databases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Example:
    """One question about ``database``, and the queries that answer it.

    A result equal to that of any of ``golds`` is right; reports show the first. ``accepted`` are
    the queries that a person takes for right, if somebody judged the golds. ``evidence`` is the
    hint that some benchmarks add to the question.
    """

    id: str
    database: str
    question: str
    golds: tuple[str, ...]
    evidence: str = ""
    difficulty: str = ""
    accepted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A SQLite database, or by its ending DuckDB's, read in place."""

    path: Path


@dataclass(frozen=True, slots=True)
class PostgresFile:
    """A dump (custom format) or an ``.sql`` script, restored into the embedded server once.

    ``schemas`` is the search path, and what is indexed; empty means all schemas of the file.
    """

    path: Path
    schemas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Configured:
    """A database of the settings file with the same name."""


Source = LocalFile | PostgresFile | Configured


@dataclass(frozen=True)
class Benchmark:
    """Examples and the sources of their databases.

    ``missing`` maps databases that could not be found to the reason; their examples stay in
    ``examples``, so that they are counted. ``descriptions`` maps a database to the published texts
    for ``table`` or ``table.column``. ``sha256`` is that of the questions file.
    """

    name: str
    dialect: str
    examples: tuple[Example, ...]
    databases: Mapping[str, Source]
    sha256: str
    missing: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
