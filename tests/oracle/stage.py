"""Where PostgreSQL queries are judged: the whole database, and copies of it for each principal.

The database stays without connections, since it is what copies are made from; the guard's queries
run on a copy that leaves nothing out, under the reading role. A principal's first copy is made when
a query needs it, those with rows in other orders only when some result differs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from execution.guard.guard import guard_query
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.postgres.embedded import EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.oracle.grants import Grants, list_grants
from tests.oracle.outcomes import Outcome
from tests.oracle.postgres_copies import FORWARD, ORDERS, build_copy, copy_database
from tests.oracle.postgres_session import PostgresSession
from tests.oracle.verdicts import Copy, Guarding, Judge, Session

# What the planner does often. Forbidden singly and by twos: where a result depends on the plan, one
# of these shows it.
_PLANNERS = (
    ("enable_seqscan",),
    ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"),
    ("enable_hashjoin",),
    ("enable_mergejoin",),
    ("enable_nestloop",),
    ("enable_hashagg",),
    ("enable_sort", "enable_incremental_sort"),
    ("enable_material", "enable_memoize"),
)
PLANS = (*_PLANNERS, *(first + second for first, second in combinations(_PLANNERS, 2)))


# Sees all of the tables, and yet in the guard's derived tables.
_ALL = {"version": 1, "roles": {"all": {"tables": {"visible": "*"}, "rows": "all"}}}


def build_guarding(policy: Mapping[str, Any], catalog: Catalog, principal: Principal) -> Guarding:
    """The guard for one principal. Raises PolicyError."""
    return _build_guard(_find_access(policy, catalog, principal))


def _find_access(
    policy: Mapping[str, Any], catalog: Catalog, principal: Principal
) -> Access | Violation:
    compiled = CompiledPolicy(parse_policy(policy), catalog)
    return compiled.access(principal)


def _build_guard(access: Access | Violation) -> Guarding:
    def guard(statement: str) -> GuardedQuery | Violation:
        return access if isinstance(access, Violation) else guard_query(statement, access)

    return guard


@dataclass(frozen=True, slots=True)
class PostgresCopy:
    """A principal's own database, one for each order of rows; each is made when needed."""

    server: EmbeddedServer
    source: str
    name: str
    roles: Sequence[Grants]
    search_path: Sequence[str]
    sessions: dict[str, PostgresSession] = field(default_factory=dict)

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """Raises psycopg.Error when the copy cannot be made."""
        return self.session(FORWARD).run(statement, params)

    def run_otherwise(self, statement: str, params: Sequence[object] = ()) -> Iterator[Outcome]:
        """The same over other orders of rows, then by other plans over each of them."""
        for order in ORDERS:
            if order != FORWARD:
                yield self.session(order).run(statement, params)
        for order in ORDERS:
            for plan in PLANS:
                yield self.session(order).run(statement, params, planner=plan)

    def session(self, order: str) -> PostgresSession:
        """The connection to the copy with its rows in this order."""
        if order not in self.sessions:
            name = f"{self.name}_{order}"
            build_copy(self.server, self.source, name, self.roles, order=order)
            self.sessions[order] = PostgresSession(self.server, name, self.search_path)
        return self.sessions[order]

    def close(self) -> None:
        """Drops what was made."""
        for session in self.sessions.values():
            session.close()
            self.server.drop_database(session.database)
        self.sessions.clear()


@dataclass(frozen=True, slots=True)
class Subject:
    """What is asked about: tables, their policy, and queries over them (identifier, SQL).

    ``name`` is that of the database or file. ``catalog`` has the search path under which the
    queries resolve. ``derived`` is, by role and table, the inheritance that the policy does not
    name, since the guard has to find it out. ``generated`` has for each generated column of the
    tables, by its qualified name, the columns that it is computed from, over all steps.
    """

    name: str
    catalog: Catalog
    policy: Mapping[str, Any]
    golds: Sequence[tuple[str, str]]
    derived: Mapping[str, Mapping[str, Any]] | None = None
    generated: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Stage(ABC):
    """Where queries about a subject are judged; ``full`` runs them on all of its rows."""

    subject: Subject
    full: Session

    @abstractmethod
    def copy(self, principal: Principal) -> Copy:
        """The principal's own database. Raises the errors of the drivers."""

    def judge(self, principal: Principal) -> Judge:
        """The judge of a principal. Raises PolicyError and what ``copy`` raises."""
        return Judge(
            self.guard(principal), self.full, self.copy(principal), reread=self.reread(principal)
        )

    def guard(self, principal: Principal) -> Guarding:
        """The guard for the principal. Raises PolicyError."""
        return _build_guard(self._find_access(principal))

    def reread(self, principal: Principal) -> Guarding:
        """The guard over what the principal sees, hiding nothing of it. Raises PolicyError."""
        access = self._find_access(principal)
        if isinstance(access, Violation):
            return _build_guard(access)
        return build_guarding(_ALL, access.catalog, Principal("all", ("all",)))

    def _find_access(self, principal: Principal) -> Access | Violation:
        return _find_access(self.subject.policy, self.subject.catalog, principal)


class PostgresStage(Stage):
    """The database of one subject."""

    full: PostgresSession

    def __init__(self, server: EmbeddedServer, subject: Subject) -> None:
        """Raises psycopg.Error when the database, called as the subject, has connections."""
        self.subject = subject
        self.source = subject.name
        self._server = server
        self._live = f"{self.source}_live"
        copy_database(server, self.source, self._live)
        self.full = PostgresSession(server, self._live, subject.catalog.search_path)
        self._copies: dict[str, PostgresCopy] = {}

    def copy(self, principal: Principal) -> PostgresCopy:
        """The principal's own database, made at its first use."""
        if principal.name not in self._copies:
            self._copies[principal.name] = PostgresCopy(
                self._server,
                self.source,
                f"{self.source}_{principal.name}",
                self.list_grants(principal),
                self.subject.catalog.search_path,
            )
        return self._copies[principal.name]

    def close(self) -> None:
        """Drops all that was made."""
        self.full.close()
        for copy in self._copies.values():
            copy.close()
        self._server.drop_database(self._live)

    def list_visible(self, principal: Principal) -> set[str]:
        """The qualified names of the tables that the principal's roles see."""
        return set[str]().union(*self.list_grants(principal))

    def list_grants(self, principal: Principal) -> list[Grants]:
        """What the principal's roles see."""
        subject = self.subject
        tables = subject.catalog.tables
        return list_grants(
            subject.policy,
            principal,
            tables,
            "postgres",
            derived=subject.derived,
            generated=subject.generated,
        )
