"""Pairs of PostgreSQL databases: the one there is, and it with what is hidden from one principal
changed.

Both are made from the same base. A principal's queries are guarded and run on the first database
once, then on each changed one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.sql.names import quote_name
from nl2sql.types import GuardedQuery, Principal
from tests.oracle.metamorphic.error_probes import Values
from tests.oracle.metamorphic.observations import MOST_ROWS, Side
from tests.oracle.metamorphic.pairs import (
    Guarded,
    Progress,
    Seen,
    choose_queries,
    ignore_progress,
    judge_pairs,
    split_evenly,
)
from tests.oracle.metamorphic.postgres_changes import (
    Change,
    build_base,
    build_changed,
    describe_visible,
)
from tests.oracle.metamorphic.verdicts import PairJudge, PairTally
from tests.oracle.outcomes import describe_difference
from tests.oracle.postgres_copies import copy_database
from tests.oracle.postgres_session import PostgresSession
from tests.oracle.runs import list_queries
from tests.oracle.stage import HASH_KEY, PLANS, PostgresStage, build_guarding
from tests.oracle.verdicts import may_order

LIMITS = LimitSettings(statement_timeout_ms=3000, explain_timeout_ms=2000, pool_size=1)
_VALUES_EACH = 4
_WITH_VALUES = ("text", "character", "int", "numeric")


class PostgresPairs:
    """Judges pairs over the subjects of one stage, whose source must have no connections."""

    def __init__(self, server: EmbeddedServer, stage: PostgresStage) -> None:
        """Raises psycopg.Error."""
        self._server = server
        self._stage = stage
        self._base = f"{stage.source}_base"
        self._left = f"{stage.source}_left"
        self._right = f"{stage.source}_right"
        build_base(server, stage.source, self._base)
        copy_database(server, self._base, self._left)
        self._runner = asyncio.Runner()

    def judge(
        self,
        principals: Sequence[Principal],
        rng: random.Random,
        *,
        pairs: int,
        changes: Sequence[Change] = tuple(Change),
        progress: Progress = ignore_progress,
    ) -> PairTally:
        """About ``pairs`` pairs, the same share for each principal, subject and change.

        Raises as ``judge_queries`` does.
        """
        tally = PairTally()
        subjects = self._stage.subjects
        most = split_evenly(pairs, len(principals) * len(subjects) * len(changes))
        corpora = [list_queries(subject.catalog, subject.golds) for subject in subjects]
        values = [self._read_values(subject.catalog) for subject in subjects]
        for principal in principals:
            queries = [
                choose_queries(
                    corpus,
                    subject.catalog,
                    known,
                    build_guarding(subject.policy, subject.catalog, principal),
                    rng,
                    most=most,
                    tally=tally,
                )
                for subject, corpus, known in zip(subjects, corpora, values, strict=True)
            ]
            self.judge_queries(principal, queries, tally, changes=changes, progress=progress)
        return tally

    def judge_queries(
        self,
        principal: Principal,
        queries: Sequence[Guarded],
        tally: PairTally,
        *,
        changes: Sequence[Change] = tuple(Change),
        progress: Progress = ignore_progress,
    ) -> None:
        """Adds the verdicts on the queries of each subject, guarded for ``principal``.

        A change that leaves everything as it is makes no pairs. Raises psycopg.Error,
        DatabaseUnavailable, and AssertionError where the principal could see a change.
        """
        roles = self._stage.list_grants(principal)
        visible = describe_visible(self._server, self._base, roles, HASH_KEY)
        seen: Seen = {}
        for change in changes:
            if not build_changed(self._server, self._base, self._right, roles, change):
                continue
            after = describe_visible(self._server, self._right, roles, HASH_KEY)
            odd = [name for name in visible if visible[name] != after.get(name)]
            assert not odd, f"{principal.name} sees the change {change} of {odd}"
            for subject, guarded in zip(self._stage.subjects, queries, strict=True):
                path = subject.catalog.search_path
                self._judge_change(principal, path, guarded, change, seen, tally)
            progress(f"{principal.name} {change}", tally)

    def close(self) -> None:
        """Drops all that was made."""
        self._runner.close()
        for name in (self._right, self._left, self._base):
            self._server.drop_database(name)

    def _judge_change(
        self,
        principal: Principal,
        search_path: tuple[str, ...],
        queries: Guarded,
        change: Change,
        seen: Seen,
        tally: PairTally,
    ) -> None:
        left, right = (self._open(name, search_path) for name in (self._left, self._right))
        with (
            PostgresSession(self._server, self._left, search_path) as one,
            PostgresSession(self._server, self._right, search_path) as other,
        ):

            def is_open(query: GuardedQuery) -> bool:
                return _is_other_page(one, other, query) or _answers_otherwise(one, query)

            judge_pairs(
                PairJudge(left, right, is_open), left, queries, principal, change, seen, tally
            )
        left.close()
        right.close()

    def _open(self, database: str, search_path: tuple[str, ...]) -> Side:
        url = self._server.url(database, READER)
        opened = PostgresDatabase(database, url, LIMITS, search_path=search_path)
        return Side(opened, self._runner)

    def _read_values(self, catalog: Catalog) -> Values:
        """A few values of each column of texts and of numbers, whoever may see them."""
        found = {}
        for table in catalog.tables:
            for column in table.columns:
                if not column.type.startswith(_WITH_VALUES):
                    continue
                name, schema, relation = (
                    quote_name(part, catalog.dialect)
                    for part in (column.name, table.schema, table.name)
                )
                rows = self._stage.full.fetch(
                    f"SELECT DISTINCT {name} FROM {schema}.{relation} "
                    f"WHERE {name} IS NOT NULL ORDER BY 1 DESC LIMIT {_VALUES_EACH}"
                )
                found[f"{table.qualified}.{column.name}"] = [value for (value,) in rows]
        return found


def _is_other_page(left: PostgresSession, right: PostgresSession, query: GuardedQuery) -> bool:
    """Whether both have the same rows, more than a page, in no order that the query asks for."""
    if may_order(query.sql):
        return False
    one, other = (session.run(query.sql, query.params) for session in (left, right))
    is_page = one.complete and other.complete and len(one.rows) > MOST_ROWS
    return is_page and not describe_difference(one, other)


def _answers_otherwise(session: PostgresSession, query: GuardedQuery) -> bool:
    """Whether one database gives several answers to the query, as it is planned."""
    page = f"SELECT * FROM (\n{query.sql}\n) AS page LIMIT {MOST_ROWS + 1}"
    usual = session.run(page, query.params)
    return any(
        describe_difference(usual, session.run(page, query.params, planner=plan)) for plan in PLANS
    )
