"""Random statements thrown at the guard: what passes runs, with nothing but the guard in the way.

Each statement goes to the guard as each principal. What it lets through runs as the superuser, so
that a write, a shutdown or a look at a file would work, on a database in which all that the
principal may not see is marked, and is held against the principal's copy. Trouble is: an exception
of the guard's, a mark in a result or in an error's text, another result than the copy's, a changed
table, a server that is not the one that it was.
"""

from __future__ import annotations

import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from execution.embedded import SUPERUSER, EmbeddedServer
from nl2sql.types import Principal, Violation
from tests.oracle.corpus import Query
from tests.oracle.marked_database import build_marked, has_mark
from tests.oracle.mutations import iterate_mutations
from tests.oracle.outcomes import Outcome
from tests.oracle.postgres_copies import list_relations, open_superuser
from tests.oracle.postgres_session import PostgresSession
from tests.oracle.runs import cut_catalog, list_queries
from tests.oracle.sqlsmith import PROGRAM, iterate_statements, prepare_database
from tests.oracle.stage import PostgresStage, build_guarding, build_rereading
from tests.oracle.tally import Finding, Tally
from tests.oracle.verdicts import Guarding, Judge, Kind

Statements = Iterator[tuple[str, str]]

_TIMEOUT_MS = 1000
# sqlsmith's statements are long: each takes as long as several others.
_MUTATIONS_TO_ONE_OF_SQLSMITH = 4
_OBJECTS = """
SELECT md5(string_agg(name, ',' ORDER BY name)) FROM (
  SELECT relname || relkind::text AS name FROM pg_class
   WHERE relnamespace::regnamespace::text NOT LIKE 'pg_%'
  UNION ALL SELECT proname FROM pg_proc WHERE oid >= 16384
  UNION ALL SELECT rolname || coalesce(rolconfig::text, '') FROM pg_roles
  UNION ALL SELECT lomowner::text FROM pg_largeobject_metadata) AS objects
"""
_SERVER = """
SELECT pg_postmaster_start_time()::text,
       (SELECT md5(string_agg(datname, ',' ORDER BY datname)) FROM pg_database
         WHERE datname NOT LIKE 'oracle%'),
       (SELECT md5(string_agg(name || setting, ',' ORDER BY name)) FROM pg_settings
         WHERE source IN ('configuration file', 'command line', 'database'))
"""


@dataclass
class FuzzReport:
    """What a run came to; ``troubles`` is empty when all is well."""

    statements: int = 0
    executed: int = 0
    rows: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    troubles: list[str] = field(default_factory=list)

    def render(self) -> str:
        """The counts, the verdicts' table, and each trouble whole."""
        lines = [
            f"statements {self.statements:,} ({_render_counts(self.kinds)})",
            f"refused {self.refusals.total():,}, passed {self.tally.total:,},"
            f" without error {self.executed:,}, with rows {self.rows:,}",
            f"refused: {_render_counts(self.refusals)}",
            self.tally.render(),
            f"troubles: {len(self.troubles)}",
            *self.troubles,
        ]
        return "\n".join(lines)


class _WatchedSession:
    """Runs what passed the guard, and looks for marks in what comes back."""

    def __init__(self, session: PostgresSession) -> None:
        self.session = session
        self.last: Outcome | None = None

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        self.last = self.session.run(statement, params)
        return self.last


class Fuzzer:
    """Holds one marked database and one judge for each principal. ``close`` drops them."""

    def __init__(
        self,
        server: EmbeddedServer,
        stage: PostgresStage,
        principals: Sequence[Principal],
        guards: Mapping[str, Guarding],
    ) -> None:
        """``guards`` are by the principals' names, looked up anew for each statement.

        Raises psycopg.Error.
        """
        self._server = server
        self._stage = stage
        self._principals = principals
        subject = stage.subjects[0]
        self._sessions: dict[str, _WatchedSession] = {}
        self._guards = guards
        self._judges: dict[str, Judge] = {}
        for principal in principals:
            name = f"{subject.name}_{principal.name}_marked"
            build_marked(server, stage.source, name, stage.list_grants(principal))
            session = PostgresSession(
                server, name, subject.catalog.search_path, timeout_ms=_TIMEOUT_MS, role=SUPERUSER
            )
            watched = _WatchedSession(session)
            self._sessions[principal.name] = watched
            self._judges[principal.name] = Judge(
                self._find_guard(principal.name),
                watched,
                stage.copy(principal),
                reread=build_rereading(subject.policy, subject.catalog, principal),
                tell=False,
            )

    def run(
        self,
        statements: Statements,
        *,
        seconds: float,
        progress: Callable[[FuzzReport], None] = lambda report: None,
    ) -> FuzzReport:
        """Throws ``statements`` for so long. Raises psycopg.Error when the server is gone."""
        report = FuzzReport()
        before = self._describe_databases()
        end = time.monotonic() + seconds
        for kind, statement in statements:
            if time.monotonic() > end:
                break
            report.statements += 1
            report.kinds[kind.split(" ")[0]] += 1
            query = Query("fuzz", kind, statement)
            for principal in self._principals:
                self._throw(principal, query, report)
            progress(report)
        after = self._describe_databases()
        report.troubles += [
            f"{name}: {before[name]} became {after[name]}"
            for name in before
            if before[name] != after[name]
        ]
        return report

    def close(self) -> None:
        """Drops the marked databases."""
        for watched in self._sessions.values():
            watched.session.close()
            self._server.drop_database(watched.session.database)

    def _find_guard(self, name: str) -> Guarding:
        return lambda statement: self._guards[name](statement)

    def _throw(self, principal: Principal, query: Query, report: FuzzReport) -> None:
        watched = self._sessions[principal.name]
        watched.last = None
        try:
            refusal = self._guards[principal.name](query.sql)
            if isinstance(refusal, Violation):
                report.refusals[refusal.code] += 1
                return
            verdict = self._judges[principal.name].judge(query.sql)
        except Exception:  # whatever it is, it is what is looked for
            lines = (f"exception for {principal.name}: {query.sql!r}", traceback.format_exc())
            report.troubles.append("\n".join(lines))
            return
        finding = Finding(principal.name, query, verdict)
        report.tally.add(finding)
        if watched.last is not None:
            report.executed += not watched.last.failed
            report.rows += bool(watched.last.rows)
            if has_mark(watched.last) and verdict.kind is not Kind.EQUAL:
                report.troubles.append(f"mark in the result\n{finding.render()}")
        if verdict.kind is Kind.MISMATCH:
            report.troubles.append(finding.render())

    def _describe_databases(self) -> dict[str, str]:
        """Of each marked database: a checksum of each table's rows, and of its objects' names."""
        found = {"server": self._describe_server()}
        for watched in self._sessions.values():
            name = watched.session.database
            with open_superuser(self._server, name) as connection:
                for relation in list_relations(connection):
                    if relation.kind == "r":
                        table = relation.identifier.as_string()
                        statement = (
                            f"SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {table} AS t"
                        )
                        row = connection.execute(statement.encode()).fetchone()
                        found[f"{name} {relation.name}"] = str(row)
                found[f"{name} objects"] = str(connection.execute(_OBJECTS).fetchone())
        return found

    def _describe_server(self) -> str:
        with open_superuser(self._server, "postgres") as connection:
            row = connection.execute(_SERVER).fetchone()
        return str(row)


def _render_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common()) or "none"


def build_guards(stage: PostgresStage, principals: Sequence[Principal]) -> dict[str, Guarding]:
    """The guard itself, for each principal by name. Raises PolicyError."""
    subject = stage.subjects[0]
    return {
        principal.name: build_guarding(subject.policy, subject.catalog, principal)
        for principal in principals
    }


def build_statements(
    server: EmbeddedServer,
    stage: PostgresStage,
    principals: Sequence[Principal],
    rng: random.Random,
) -> Statements:
    """Statements of all kinds over what some principal sees, without end.

    Changed queries of the corpus, and where sqlsmith is installed its statements over the tables
    of a principal's copy; so that not nearly all are refused for a table that nobody may read.
    """
    subject = stage.subjects[0]
    sources: list[tuple[Statements, int]] = []
    for principal in principals:
        visible = cut_catalog(subject.catalog, stage.list_visible(principal))
        queries = [query.sql for query in list_queries(visible, subject.golds)]
        sources.append((iterate_mutations(queries, rng), _MUTATIONS_TO_ONE_OF_SQLSMITH))
        if PROGRAM:
            name = f"{subject.name}_{principal.name}_smith"
            prepare_database(server, stage.source, name, stage.list_grants(principal))
            sources.append((iterate_statements(server, name, rng), 1))
    return _mix(sources, rng)


def _mix(sources: Sequence[tuple[Statements, int]], rng: random.Random) -> Statements:
    statements, weights = zip(*sources, strict=True)
    while True:
        yield next(rng.choices(statements, weights)[0])
