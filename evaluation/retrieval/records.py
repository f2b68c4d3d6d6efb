"""What a retrieval run writes of one question: a JSON line that all its figures are made from.

Ranks count from 1. Milliseconds are wall time of this process, warm, one question at a time.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from evaluation.runs.manifest import RunManifest
from evaluation.runs.records import Record


class RetrievalManifest(RunManifest):
    """What the figures of an ``eval retrieval`` depend on.

    ``configurations`` holds, by variant, the settings that differ between them: the sections
    ``retrieval`` and ``flags``; ``budget`` is the number of tables of each. ``one_database``: all
    schemas in one, the question's own not told. ``paraphrases`` is the SHA-256 of the other
    questions.
    """

    FILE: ClassVar[str] = "retrieval.json"

    variants: tuple[str, ...]
    configurations: dict[str, dict[str, Any]]
    budgets: dict[str, int]
    embedder: str
    split: str = ""
    one_database: bool = False
    paraphrases_path: str = ""
    paraphrases: str = ""


class ShownTable(Record):
    """A table that the model would be shown, with the ranks that brought it there."""

    table: str
    via: str
    cosine_rank: int | None = None
    bm25_rank: int | None = None


class MissedTable(Record):
    """A table of the gold that is not among the shown, and what the cause is decided by.

    ``rank`` is its place when twice as many tables are asked for. ``twin`` is a shown table of the
    same name in another schema, ``neighbour`` a shown one that a foreign key leads to or from;
    empty: there is none. ``shared_words`` are those of the question that its name, its comment or
    its columns' names hold. ``cosine`` is None where search did not list it at all.
    """

    table: str
    rank: int | None = None
    twin: str = ""
    neighbour: str = ""
    schema_shown: bool = False
    shared_words: tuple[str, ...] = ()
    cosine: float | None = None


class Finding(Record):
    """What one variant found. ``deeper`` goes on where ``tables`` end, from twice the budget.

    ``missed_columns`` are gold columns that pruning took from shown tables; ``columns`` and
    ``tokens`` count what is shown. ``cpu_ms`` is the processor time of this process over all
    stages, the database's left out. ``error`` says why nothing was found, where something failed.
    """

    tables: tuple[ShownTable, ...] = ()
    deeper: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    missed_tables: tuple[MissedTable, ...] = ()
    missed_columns: tuple[str, ...] = ()
    columns: int = 0
    tokens: int = 0
    stages_ms: dict[str, float] = Field(default_factory=dict)
    cpu_ms: float = 0.0
    error: str = ""

    @property
    def ranking(self) -> tuple[str, ...]:
        """All tables in the order in which they were found."""
        return (*(table.table for table in self.tables), *self.deeper)


class RetrievalRecord(Record):
    """One question, what its gold reads, and what each variant found.

    ``rewords`` is the id of the question that this one puts in other words. ``gold_error`` is set
    when no figure can count it: the database is missing, or no table of the gold is in its catalog.
    """

    id: str
    database: str
    question: str
    rewords: str = ""
    gold: str
    gold_error: str = ""
    gold_tables: tuple[str, ...] = ()
    gold_columns: tuple[str, ...] = ()
    embed_ms: float = 0.0
    findings: dict[str, Finding] = Field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """True when there is something to be found."""
        return not self.gold_error
