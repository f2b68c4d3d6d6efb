"""Guarded queries, violations, and the database's results and errors."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """The database role under which a query runs, and the settings that its policies read."""

    role: str
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GuardedQuery:
    """A query that passed the guard: the only thing the executor accepts.

    ``sql`` is the guard's own rendering, ``tables`` the physical tables it reads (qualified),
    ``named`` those that the principal's own text names and that it may therefore be told,
    ``predicates`` the row-policy predicates that were injected, as ``table: predicate``, ``params``
    their bound values, for the placeholders ``$1`` … (SQLite: ``?1`` …). ``row_rules`` pairs each
    table with hidden rows with its condition as the principal may read it, empty if it may not:
    ``sql`` and ``predicates`` name columns that are hidden and constants of the policy.
    ``restricted`` says that something is withheld from the principal, so that no error may contain
    a value. ``session`` is the identity for row-level security, if the database uses it.
    ``avoids_index_order`` says that PostgreSQL must not read rows in the order of an index.
    ``principal`` names whose query it is, for the database's queue only; the empty name is the
    service's own.

    The other fields are compared with the database's own analysis of the text. On PostgreSQL,
    ``functions`` may be called in addition to those of the allowlist, ``extended`` are functions,
    operators and types that only an extension may have defined. On SQLite and DuckDB, ``reads``
    lists the columns (``schema.table.column``, folded) that the text may read, including those of
    filters; None: all columns of its tables.
    """

    database: str
    sql: str
    tables: tuple[str, ...]
    predicates: tuple[str, ...] = ()
    params: tuple[object, ...] = ()
    named: tuple[str, ...] = ()
    row_rules: tuple[tuple[str, str], ...] = ()
    dialect: str = "postgres"
    restricted: bool = False
    session: SessionIdentity | None = None
    avoids_index_order: bool = False
    functions: tuple[str, ...] = ()
    extended: frozenset[str] = frozenset()
    reads: frozenset[str] | None = None
    principal: str = field(default="", compare=False)


# The SQLSTATE (too_many_connections) of a statement that got no turn at its database in time.
NO_TURN = "53300"
# That of a statement that was stopped, or that did not answer in time.
QUERY_CANCELED = "57014"
# That of a query that is not run, since its plan expects too many rows.
TOO_COMPLEX = "54001"

# The code of a violation and of a refused answer: the object exists, but not for this principal.
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

    ``position`` counts characters from 1; 0 if the server gives none. ``explained`` is the
    planner's estimate if the query was not run because that is too high.
    """

    sqlstate: str
    message: str
    position: int = 0
    hint: str = ""
    explained: Explained | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """The root of an EXPLAIN: the planner's total cost (its own unit) and estimated rows."""

    cost: float
    rows: float


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """Limits of one execution, where they are tighter than the service's own."""

    timeout_ms: int
    result_bytes: int


@dataclass(frozen=True, slots=True)
class ResultSet:
    """A page of rows. ``truncated`` says that a limit left out further rows. ``ms``: milliseconds.

    ``cut`` lists the cells (row, column, from 0) that exceeded the limit: text and bytes are
    truncated, any other value is replaced by None. ``units`` has that of each column, empty where
    none is known; it is empty itself where nobody looked.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool
    ms: float
    cut: tuple[tuple[int, int], ...] = ()
    units: tuple[str, ...] = ()
