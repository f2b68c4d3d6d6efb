"""What passes the guard and what the database gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """Under which role of the database a query runs, and the settings that its policies read."""

    role: str
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GuardedQuery:
    """A query that passed the guard: the only thing the executor accepts.

    ``sql`` is the guard's own rendering, ``tables`` the physical tables it reads (qualified),
    ``predicates`` the row-policy predicates that were injected, as ``table: predicate``, ``params``
    their bound values, for the placeholders ``$1`` … (SQLite: ``?1`` …). ``restricted`` says that
    something is withheld from who asks, so that no error may carry a value. ``session`` is the
    row-level security, where the database has one.

    The rest is what the database's own reading of the text is held against. On PostgreSQL
    ``functions`` may be called beside those of the allowlist; ``wrapped`` says that every table
    stands in a derived table of the guard's, and ``filters`` on which of a table's columns a
    condition must stand. On SQLite and DuckDB ``reads`` are the columns (``schema.table.column``,
    folded) that the text may touch, those of filters included; None: any of its tables'.
    """

    database: str
    sql: str
    tables: tuple[str, ...]
    columns: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    params: tuple[object, ...] = ()
    dialect: str = "postgres"
    restricted: bool = False
    session: SessionIdentity | None = None
    functions: tuple[str, ...] = ()
    wrapped: bool = False
    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    reads: frozenset[str] | None = None


# The code of a violation, and of a refused answer: it is there, but not for this principal.
NOT_PERMITTED = "not_permitted"


@dataclass(frozen=True, slots=True)
class Violation:
    """Why the guard refused. ``code`` is stable, ``fragment`` the offending text."""

    code: str
    fragment: str
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """The one form in which a database's error travels. Branch on ``sqlstate`` only.

    ``position`` counts characters from 1; 0 when the server named none. ``explained`` is what the
    planner expects of a query that is not run because that is too much.
    """

    sqlstate: str
    message: str
    position: int = 0
    hint: str = ""
    explained: Explained | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """The root of an EXPLAIN: the planner's total cost (its own unit) and estimated rows.

    Queries of one ``plan`` give the same result; empty where the database does not tell enough, or
    nobody asked.
    """

    cost: float
    rows: float
    plan: str = ""


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """Limits of one execution, where they are tighter than the service's own."""

    timeout_ms: int
    result_bytes: int


@dataclass(frozen=True, slots=True)
class ResultSet:
    """A page of rows. ``truncated`` says that there were more than a limit let through.

    ``cut`` lists the cells (row, column, from 0) that were longer than a cell may be: text and
    bytes end early, anything else is withheld and stands as None.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool
    ms: float
    cut: tuple[tuple[int, int], ...] = ()
