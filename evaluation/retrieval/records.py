"""The records of a retrieval run: one JSON line per question, from which all figures are computed.

Ranks count from 1. Milliseconds are wall time of this process, warm, one question at a time.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from evaluation.runs.manifest import RunManifest
from evaluation.runs.records import Record


class RetrievalManifest(RunManifest):
    """Everything that the figures of an ``eval retrieval`` depend on.

    ``configurations`` holds the sections ``retrieval`` and ``flags`` of each variant.
    ``one_database``: all schemas are in one database, and the question's schema is not given.
    """

    FILE: ClassVar[str] = "retrieval.json"

    variants: tuple[str, ...]
    configurations: dict[str, dict[str, Any]]
    embedder: str
    split: str = ""
    one_database: bool = False


class ShownTable(Record):
    """A table that the model would see, with its ranks."""

    table: str
    via: str
    cosine_rank: int | None = None
    bm25_rank: int | None = None


class SearchFinding(Record):
    """The result of one variant.

    ``missed_tables`` are gold tables that are not shown, ``missed_columns`` gold columns that
    pruning removed from shown tables; ``columns`` and ``tokens`` count what is shown. ``cpu_ms`` is
    the processor time of this process over all stages, without the database's. ``error`` is set if
    the search failed.
    """

    tables: tuple[ShownTable, ...] = ()
    modules: tuple[str, ...] = ()
    missed_tables: tuple[str, ...] = ()
    missed_columns: tuple[str, ...] = ()
    columns: int = 0
    tokens: int = 0
    stages_ms: dict[str, float] = Field(default_factory=dict)
    cpu_ms: float = 0.0
    error: str = ""


class RetrievalRecord(Record):
    """One question, the tables and columns of its gold, and the finding of each variant.

    ``gold_error`` is set if the question is not counted: the database is missing, or no gold table
    is in its catalog.
    """

    id: str
    database: str
    question: str
    gold: str
    gold_error: str = ""
    gold_tables: tuple[str, ...] = ()
    gold_columns: tuple[str, ...] = ()
    embed_ms: float = 0.0
    findings: dict[str, SearchFinding] = Field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """True if the question counts in the figures."""
        return not self.gold_error
