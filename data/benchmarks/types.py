"""What a benchmark is: questions, the queries that answer them, and where their databases lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Example:
    """One question about ``database``, and the queries that answer it.

    A result equal to that of any of ``golds`` is right; the first stands for them in reports.
    ``evidence`` is the hint that some benchmarks add to the question. ``schema`` is the schema that
    names in ``golds`` mean first, where ``database`` does not tell; no system is told of it.
    ``split`` is the part of the benchmark that the question belongs to, where it has parts.
    """

    id: str
    database: str
    question: str
    golds: tuple[str, ...]
    evidence: str = ""
    difficulty: str = ""
    schema: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A database read in place."""

    path: Path


@dataclass(frozen=True, slots=True)
class PostgresFile:
    """A dump (custom format) or an ``.sql`` script, restored into the embedded server once.

    ``schemas`` is the search path, and what is indexed; none means all that the file holds.
    """

    path: Path
    schemas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Configured:
    """A database that the settings file describes, under the name that the benchmark uses."""


Source = SqliteFile | PostgresFile | Configured


@dataclass(frozen=True)
class Benchmark:
    """Examples and the sources of their databases.

    ``missing`` names each database that could not be found, with the reason; its examples stay in
    ``examples``, so that they are counted. ``descriptions`` gives, database by database, texts for
    ``table`` or ``table.column``, as the benchmark publishes them beside the schema.
    ``sha256`` is that of the questions file.
    """

    name: str
    dialect: str
    examples: tuple[Example, ...]
    databases: Mapping[str, Source]
    sha256: str
    missing: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
