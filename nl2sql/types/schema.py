"""The results of retrieval and planning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from nl2sql.catalog import ForeignKey, Table

VALUES_MARK = "values: "
"""The beginning of a gloss that lists a column's values; no other gloss begins so."""


@dataclass(frozen=True, slots=True)
class ModuleRoute:
    """One to three modules, best first, with a confidence from 0 to 1 for each."""

    modules: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievedTable:
    """A table that may be needed. Ranks count from 1; None if the ranking does not list it.

    ``via`` is ``hit``, ``foreign_key``, ``draft``, ``module`` or ``definition``;
    ``score`` is that of the reciprocal rank fusion. ``columns`` names the columns whose own cards
    search found, best first. A ``short`` table is written with few columns, without their types.
    """

    table: Table
    score: float
    cosine_rank: int | None = None
    bm25_rank: int | None = None
    cosine: float | None = None
    via: str = "hit"
    columns: tuple[str, ...] = ()
    short: bool = False


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A phrase of the question that matches a stored ``value`` of a text column.

    ``score`` is 1 for texts that differ only in case and spacing, less for similar ones.
    """

    phrase: str
    table: str
    column: str
    value: str
    score: float


def spell_value(match: ValueMatch, known: Iterable[ValueMatch]) -> tuple[str, ...]:
    """The spellings of a value in its column that differ only in case and spacing.

    >>> known = [ValueMatch("uk", "s.t", "c", text, 1.0) for text in ("UK", "uk ")]
    >>> spell_value(known[1], (*known, ValueMatch("uk", "s.t", "d", "Uk", 1.0)))
    ('UK', 'uk ')
    """
    if match.score < 1:
        return (match.value,)
    return tuple(
        other.value
        for other in known
        if (other.phrase, other.table, other.column) == (match.phrase, match.table, match.column)
        and other.score == 1
    )


@dataclass(frozen=True, slots=True)
class FewShot:
    """A verified question and its query, shown to the model. ``similarity`` is a cosine."""

    question: str
    sql: str
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class VerifiedQuery:
    """The query that a person gave as the right one for a question, and who and when.

    ``source`` is that of the example: ``feedback`` or ``file``. ``parameters`` pairs the parameters
    of a query that has any with the values that the question gives them.
    """

    sql: str
    given_by: str
    given_at: datetime
    source: str
    title: str = ""
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        """Who verified it, and when, as every interface says it.

        >>> day = datetime(2026, 3, 1)
        >>> VerifiedQuery("SELECT 1", "mia", day, "file", "Sales", (("year", "2024"),)).label
        'Verified by mia on 2026-03-01: Sales, with year 2024'
        """
        values = ", ".join(f"{name} {value}" for name, value in self.parameters)
        told = ", ".join(filter(None, (self.title, values and f"with {values}")))
        who = f"Verified by {self.given_by} on {self.given_at:%Y-%m-%d}"
        return f"{who}: {told}" if told else who


@dataclass(frozen=True, slots=True)
class CatalogQuery:
    """The query that answers a question about the database itself, such as its tables.

    ``note`` says what it leaves out of a large database; it is empty otherwise.
    """

    sql: str
    note: str = ""


DefinitionKind = Literal["measure", "dimension", "filter"]


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of the semantic layer that the question names.

    ``kind`` is ``measure``, ``dimension`` or ``filter``; ``phrase`` is the name or synonym that the
    question contains. ``expression`` is SQL, empty for a filter; ``condition`` is SQL, empty for a
    dimension. ``tables`` (qualified names) are those that it reads and those between them;
    ``joins`` is their ``FROM … JOIN … ON …``, empty for one table. ``columns``
    (``schema.table.column``) include those of the joins. ``query`` is a query with the expression,
    the joins and the condition. ``source`` is the file's name; ``synonyms`` are other words for the
    name.
    """

    kind: DefinitionKind
    name: str
    phrase: str
    expression: str
    condition: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    query: str
    joins: str = ""
    description: str = ""
    source: str = ""
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """The part of the schema that the model sees, and the keys between its tables.

    ``names`` gives the shortest SQL name of each table that the database resolves. ``refusal``
    says why the principal may see nothing of the database. ``glosses`` pairs ``schema.table`` or
    ``schema.table.column`` with a description that is not in the database. ``foreign_keys``
    includes inferred keys. The context holds nothing that the principal may not see.
    ``catalog_tables`` counts all visible tables of the database, ``modules`` names their modules.
    ``shared`` names the tables that are also shown for other questions, whole and before all
    others: a module, or all of a small database. ``definitions`` are those that the question names;
    their tables are among ``tables``. ``verified`` is the query given for this very question, if
    there is one; ``about`` is the query that answers a question about the database itself, if it is
    one.
    """

    tables: tuple[RetrievedTable, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    names: tuple[str, ...] = ()
    version: str = ""
    dialect: str = "postgres"
    refusal: str = ""
    glosses: tuple[tuple[str, str], ...] = ()
    values: tuple[ValueMatch, ...] = ()
    examples: tuple[FewShot, ...] = ()
    catalog_tables: int = 0
    modules: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    verified: VerifiedQuery | None = None
    about: CatalogQuery | None = None

    @property
    def is_whole(self) -> bool:
        """True when it holds all tables that the principal may see, none of them short."""
        return len(self.tables) >= self.catalog_tables and not any(hit.short for hit in self.tables)

    @property
    def best_cosine(self) -> float:
        """The highest cosine similarity of any table to the question; -1 when there is none."""
        return max((hit.cosine for hit in self.tables if hit.cosine is not None), default=-1.0)

    @property
    def has_keyword_hit(self) -> bool:
        """True if a table's card contains a word of the question."""
        return any(hit.bm25_rank is not None for hit in self.tables)


@dataclass(frozen=True, slots=True)
class SchemaLink:
    """A phrase of the question that names a table, or a column when ``column`` is not empty.

    ``score`` lies between 0 and 1. ``method`` says what linked them: ``name``, ``comment``,
    ``synonym``, ``fuzzy``, ``value``, ``definition`` or ``type`` (a date for a question about a
    time).
    """

    phrase: str
    table: str
    column: str
    score: float
    method: str = "name"


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """Tables in the order of joining (qualified names), the keys, and the skeleton as SQL.

    A table may occur twice, in different roles: employees and their manager.
    """

    tables: tuple[str, ...] = ()
    keys: tuple[ForeignKey, ...] = ()
    skeleton: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The result of the planner stage: links, best first, joins, and the columns to show.

    ``columns`` pairs a qualified table name with the columns that are kept; other tables keep all
    columns.
    """

    links: tuple[SchemaLink, ...] = ()
    joins: JoinPlan = JoinPlan()
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
