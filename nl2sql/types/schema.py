"""What retrieval and planning find: modules, tables, values, links and joins."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.catalog import ForeignKey, Table


@dataclass(frozen=True, slots=True)
class ModuleRoute:
    """One to three modules, best first, with a confidence from 0 to 1 for each."""

    modules: tuple[str, ...]
    method: str
    confidences: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RetrievedTable:
    """A table that may be needed. Ranks count from 1; None where that ranking did not list it.

    ``via`` is ``hit``, ``foreign_key``, ``draft`` or ``module``; ``score`` is that of the
    reciprocal rank fusion. ``columns`` names the columns that search found by themselves, best
    first.
    """

    table: Table
    score: float
    cosine_rank: int | None = None
    bm25_rank: int | None = None
    cosine: float | None = None
    via: str = "hit"
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A phrase of the question that is a value of a text column, as it is stored.

    ``score`` is 1 for the same text in any case and spacing, less for a similar one.
    """

    phrase: str
    table: str
    column: str
    value: str
    score: float


@dataclass(frozen=True, slots=True)
class FewShot:
    """A verified question and its query, shown to the model. ``similarity`` is a cosine."""

    question: str
    sql: str
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """The part of the schema that the model sees, and the keys between its tables.

    ``names`` gives, table by table, the shortest SQL name that the database resolves. ``refusal``
    says why the principal may see nothing of the database at all. ``glosses`` pairs
    ``schema.table`` or ``schema.table.column`` with a description that the database does not hold
    itself. ``foreign_keys`` holds inferred keys too. Nothing in it is hidden from the principal.
    ``catalog_tables`` counts all tables of the database that the principal may see, ``modules``
    names the groups that they are in. ``row_rules`` pairs a table whose rows the policy limits with
    the condition, empty where that is not told. ``shared`` names the tables that other questions
    are shown too, whole and before all others: a module, or all of a small database.
    """

    tables: tuple[RetrievedTable, ...]
    foreign_keys: tuple[ForeignKey, ...]
    names: tuple[str, ...]
    version: str = ""
    dialect: str = "postgres"
    refusal: str = ""
    glosses: tuple[tuple[str, str], ...] = ()
    values: tuple[ValueMatch, ...] = ()
    examples: tuple[FewShot, ...] = ()
    catalog_tables: int = 0
    modules: tuple[str, ...] = ()
    row_rules: tuple[tuple[str, str], ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True when it holds all tables that the principal may see."""
        return len(self.tables) >= self.catalog_tables

    @property
    def best_cosine(self) -> float:
        """The highest cosine similarity of any table to the question; -1 when there is none."""
        return max((hit.cosine for hit in self.tables if hit.cosine is not None), default=-1.0)

    @property
    def has_keyword_hit(self) -> bool:
        """True when some word of the question stands in some table's card."""
        return any(hit.bm25_rank is not None for hit in self.tables)


@dataclass(frozen=True, slots=True)
class SchemaLink:
    """A phrase of the question that names a table, or a column when ``column`` is not empty.

    ``score`` lies between 0 and 1. ``method`` says what linked them: ``name``, ``comment``,
    ``synonym``, ``fuzzy``, ``value``, ``type`` (a date for a question about a time) or ``model``.
    """

    phrase: str
    table: str
    column: str
    score: float
    method: str = "name"


@dataclass(frozen=True, slots=True)
class SchemaLinks:
    """All links found, best first.

    ``technique`` is the one that found them; ``note`` says why it is not the one asked for.
    """

    links: tuple[SchemaLink, ...] = ()
    technique: str = "deterministic"
    note: str = ""


@dataclass(frozen=True, slots=True)
class JoinPath:
    """Tables in the order of joining (qualified names), the keys, and the skeleton as SQL.

    A table may stand twice, under a role: employees and their manager.
    """

    tables: tuple[str, ...] = ()
    keys: tuple[ForeignKey, ...] = ()
    skeleton: str = ""


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """The best way to join what was linked, and the next best ``alternatives``, shortest first."""

    tables: tuple[str, ...] = ()
    keys: tuple[ForeignKey, ...] = ()
    skeleton: str = ""
    alternatives: tuple[JoinPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What the planner stage found: links, joins, and which columns are worth showing.

    ``columns`` pairs a qualified table name with the columns that are left of it; a table that is
    not among them keeps all of its columns. The tokens are those of linking by the model.
    """

    links: SchemaLinks = SchemaLinks()
    joins: JoinPlan = JoinPlan()
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
