"""What a statement may not do beside returning rows: call, lock, end, set.

A role that owns nothing may execute no function but those of the allowlist, and what operators and
casts stand for. A guarded statement is explained as that role before it runs: PostgreSQL checks the
right to every function of a plan when it starts the plan, also of one that a name calls without
parentheses. Then it runs as the superuser, and the server is asked what has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg import RawCursor, sql

from execution.allowlists import load_allowlist
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from tests.oracle.outcomes import Outcome, bind_values
from tests.oracle.postgres_copies import open_superuser
from tests.oracle.postgres_session import PostgresSession

# What the guard's wrappers call (masks), and what functions in the language SQL become inline.
_BESIDES = ("encode", "sha256", "convert_to", "timestamptz", "similar_to_escape")
# Their values are read and written by the functions of these.
_ROWS_AND_ARRAYS = ("record", "_int4", "_text", "unknown")
_NARROW = """
SET LOCAL allow_system_table_mods = on;
UPDATE pg_proc SET proacl = ARRAY[makeaclitem(proowner, proowner, 'EXECUTE', false)]
 WHERE NOT (
   proname = ANY (%(names)s)
   OR oid IN (SELECT oprcode FROM pg_operator)
   OR oid IN (SELECT castfunc FROM pg_cast WHERE castfunc <> 0)
   OR oid IN (SELECT aggtransfn FROM pg_aggregate)
   OR oid IN (SELECT aggfinalfn FROM pg_aggregate)
   OR oid IN (SELECT unnest(ARRAY[typinput, typoutput])::oid FROM pg_type
               WHERE typname = ANY (%(types)s)));
"""
_LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = $1"
_IS_ALIVE = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
_SETTINGS = """
SELECT string_agg(name || '=' || setting, ', ' ORDER BY name) FROM pg_settings
 WHERE source = 'session'
"""
_PAGE = "EXPLAIN (FORMAT JSON) SELECT * FROM (\n{}\n) AS page LIMIT 1"
_NOT_PERMITTED = "42501"


def narrow_functions(server: EmbeddedServer, database: str) -> None:
    """Takes from everybody but the superuser all functions that no guarded query may call."""
    allowlist = load_allowlist("postgres")
    values = {
        "names": [*(name.rpartition(".")[2] for name in allowlist.functions), *_BESIDES],
        "types": [*allowlist.types, *_ROWS_AND_ARRAYS],
    }
    with open_superuser(server, database) as connection, connection.transaction():
        for statement in _NARROW.split(";\n"):
            if statement.strip():
                connection.execute(statement.encode(), values if "%(" in statement else None)


class WatchedSession:
    """Runs what passed the guard as the superuser; ``troubles`` are the effects that were seen.

    The database must be one of ``narrow_functions``. Opens three connections more: the reader that
    explains, a bystander that nobody may end, and one that asks.
    """

    def __init__(
        self,
        server: EmbeddedServer,
        database: str,
        search_path: Sequence[str],
        *,
        timeout_ms: int,
    ) -> None:
        """Raises psycopg.Error."""
        self.database = database
        self.troubles: list[str] = []
        self._server = server
        self._search_path = search_path
        self._timeout_ms = timeout_ms
        self._open()

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """Runs the statement; its effects beside the rows are added to ``troubles``."""
        self._explain(statement, params)
        try:
            outcome = self._session.run(statement, params)
            self._look_around(statement)
        except psycopg.Error as error:
            self.troubles.append(f"ended a session: {error}\n  {statement}")
            self._reopen()
            return Outcome(sqlstate="57P01", message=str(error))
        return outcome

    def close(self) -> None:
        """Ends all connections."""
        self._session.close()
        for connection in (self._reader, self._bystander, self._witness):
            connection.close()

    def _explain(self, statement: str, params: Sequence[object]) -> None:
        values = bind_values(params)
        page = _PAGE.format(statement)
        try:
            with self._reader.transaction(force_rollback=True):
                self._reader.execute(page.encode(), values or None)
        except UnicodeEncodeError:
            return
        except psycopg.Error as error:
            if error.sqlstate == _NOT_PERMITTED:
                self.troubles.append(f"{error.diag.message_primary}\n  {statement}")

    def _look_around(self, statement: str) -> None:
        troubles = list(self._list_effects())
        self.troubles += [f"{text}\n  {statement}" for text in troubles]
        if troubles:
            self._reopen()

    def _list_effects(self) -> Iterator[str]:
        (locks,) = self._ask(_LOCKS, self._process)
        if locks:
            yield f"holds {locks} advisory locks"
        (alive,) = self._ask(_IS_ALIVE, self._bystander.info.backend_pid)
        if not alive:
            yield "ended another session"
        settings = self._read_settings()
        if settings != self._settings:
            yield f"settings {self._settings} became {settings}"

    def _ask(self, query: str, *params: object) -> tuple[Any, ...]:
        row = self._witness.execute(query.encode(), params or None).fetchone()
        assert row is not None
        return tuple(row)

    def _read_settings(self) -> str:
        ((settings,),) = self._session.fetch(_SETTINGS)
        return str(settings)

    def _open(self) -> None:
        url = self._server.url(self.database, READER)
        self._session = PostgresSession(
            self._server,
            self.database,
            self._search_path,
            timeout_ms=self._timeout_ms,
            role=SUPERUSER,
        )
        self._settings = self._read_settings()
        ((self._process,),) = self._session.fetch("SELECT pg_backend_pid()")
        self._reader = psycopg.connect(url, autocommit=True, cursor_factory=RawCursor)
        path = sql.SQL(", ").join(map(sql.Identifier, self._search_path))
        self._reader.execute(sql.SQL("SET search_path = {}").format(path))
        self._bystander = psycopg.connect(url, autocommit=True)
        self._witness = psycopg.connect(
            self._server.url("postgres", SUPERUSER), autocommit=True, cursor_factory=RawCursor
        )

    def _reopen(self) -> None:
        self.close()
        self._open()
