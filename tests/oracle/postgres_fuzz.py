"""Fuzzing on PostgreSQL: marked databases, where what passes the guard runs as the superuser.

So a write, a shutdown or a look at a file would work. What may not change: the rows of all tables,
the objects of all databases, the settings, and the server that answers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import repeat

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import Principal
from tests.oracle.corpus import list_queries, load_seeds
from tests.oracle.effects import WatchedSession, narrow_functions
from tests.oracle.fuzz import (
    Aimed,
    FuzzReport,
    Target,
    aim_at_all,
    throw_statements,
)
from tests.oracle.marked_database import build_marked
from tests.oracle.mutations import iterate_mutations
from tests.oracle.postgres_copies import list_relations, open_superuser
from tests.oracle.stage import PostgresStage
from tests.oracle.tally import cut_catalog

_TIMEOUT_MS = 1000
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


class PostgresFuzzer:
    """Holds one marked database for each principal. ``close`` drops them."""

    def __init__(
        self, server: EmbeddedServer, stage: PostgresStage, principals: Sequence[Principal]
    ) -> None:
        """Raises PolicyError, psycopg.Error."""
        self.server = server
        self.stage = stage
        self.principals = principals
        subject = stage.subject
        self._sessions: list[WatchedSession] = []
        self.targets: list[Target] = []
        for principal in principals:
            name = f"{subject.name}_{principal.name}_marked"
            grants = stage.list_grants(principal)
            build_marked(server, stage.source, name, grants)
            narrow_functions(server, name)
            session = WatchedSession(
                server, name, subject.catalog.search_path, timeout_ms=_TIMEOUT_MS
            )
            self._sessions.append(session)
            self.targets.append(
                Target(
                    principal.name,
                    stage.guard(principal),
                    session,
                    stage.copy(principal),
                    stage.reread(principal),
                    hides=not all(
                        any(
                            table.qualified in role and role[table.qualified].is_whole
                            for role in grants
                        )
                        for table in subject.catalog.tables
                    ),
                    effects=session.troubles,
                )
            )

    def run(
        self,
        aimed: Aimed,
        *,
        seconds: float,
        progress: Callable[[FuzzReport], None] = lambda report: None,
    ) -> FuzzReport:
        """Throws the statements for so long. Raises psycopg.Error when the server is gone."""
        return throw_statements(
            aimed, seconds=seconds, describe=self._describe_databases, progress=progress
        )

    def close(self) -> None:
        """Drops the marked databases."""
        for session in self._sessions:
            session.close()
            self.server.drop_database(session.database)

    def _describe_databases(self) -> dict[str, str]:
        """Of each marked database: a checksum of each table's rows, and of its objects' names."""
        found = {"server": self._describe_server()}
        for session in self._sessions:
            name = session.database
            with open_superuser(self.server, name) as connection:
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
        with open_superuser(self.server, "postgres") as connection:
            row = connection.execute(_SERVER).fetchone()
        return str(row)


def aim_mutations(fuzzer: PostgresFuzzer, rng: random.Random) -> Aimed:
    """Changed queries over what the fuzzer's principals see, without end.

    They are made of the corpus of what each of them sees, so that not nearly all are refused for a
    table that nobody may read, and of the seeds.
    """
    subject = fuzzer.stage.subject
    streams = [iterate_mutations(load_seeds(), rng)]
    for who in fuzzer.principals:
        visible = cut_catalog(subject.catalog, fuzzer.stage.list_visible(who))
        queries = list_queries(visible, subject.golds)
        streams.append(iterate_mutations([query.sql for query in queries], rng))
    return aim_at_all(fuzzer.targets, (next(rng.choice(streams)) for _ in repeat(None)))
