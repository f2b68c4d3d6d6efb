"""Pairs of PostgreSQL databases, both made from the same base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.settings import LimitSettings
from nl2sql.sql.names import quote_name
from nl2sql.types import GuardedQuery, Principal
from tests.oracle.corpus import Query, list_queries
from tests.oracle.metamorphic.error_probes import Values
from tests.oracle.metamorphic.observations import MOST_ROWS, Side
from tests.oracle.metamorphic.pairs import Pairs
from tests.oracle.metamorphic.postgres_changes import (
    Change,
    build_base,
    build_changed,
    describe_visible,
)
from tests.oracle.metamorphic.verdicts import Settling
from tests.oracle.outcomes import describe_difference
from tests.oracle.postgres_copies import copy_database
from tests.oracle.postgres_session import PostgresSession
from tests.oracle.stage import HASH_KEY, PLANS, PostgresStage
from tests.oracle.verdicts import may_order

LIMITS = LimitSettings(statement_timeout_ms=3000, explain_timeout_ms=2000, pool_size=1)
_VALUES_EACH = 4
_WITH_VALUES = ("text", "character", "int", "numeric")


class PostgresPairs(Pairs):
    """Judges pairs over the subject of a stage, whose source must have no connections."""

    def __init__(self, server: EmbeddedServer, stage: PostgresStage) -> None:
        """Raises psycopg.Error."""
        super().__init__(stage.subject)
        self._server = server
        self._stage = stage
        self._base = f"{stage.source}_base"
        self._left = f"{stage.source}_left"
        self._right = f"{stage.source}_right"
        build_base(server, stage.source, self._base)
        copy_database(server, self._base, self._left)

    def close(self) -> None:
        """Drops all that was made."""
        super().close()
        for name in (self._right, self._left, self._base):
            self._server.drop_database(name)

    def _list_corpus(self) -> Sequence[Query]:
        return list_queries(self.subject.catalog, self.subject.golds)

    def _iterate_changes(self, principal: Principal, changes: Sequence[Change]) -> Iterator[Change]:
        roles = self._stage.list_grants(principal)
        visible = describe_visible(self._server, self._base, roles, HASH_KEY)
        for change in changes:
            if not build_changed(self._server, self._base, self._right, roles, change):
                continue
            after = describe_visible(self._server, self._right, roles, HASH_KEY)
            odd = [name for name in visible if visible[name] != after.get(name)]
            assert not odd, f"{principal.name} sees the change {change} of {odd}"
            yield change

    @contextmanager
    def _open_sides(self) -> Iterator[tuple[Side, Side, Settling]]:
        path = self.subject.catalog.search_path
        with (
            closing(PostgresSession(self._server, self._left, path)) as one,
            closing(PostgresSession(self._server, self._right, path)) as other,
        ):

            def is_open(query: GuardedQuery) -> bool:
                return _is_other_page(one, other, query) or _answers_otherwise(one, query)

            yield self._open(self._left, path), self._open(self._right, path), is_open

    def _open(self, database: str, search_path: tuple[str, ...]) -> Side:
        url = self._server.url(database, READER)
        opened = PostgresDatabase(database, url, LIMITS, search_path=search_path)
        return Side(opened, self._runner)

    def _read_values(self) -> Values:
        found, catalog = {}, self.subject.catalog
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
