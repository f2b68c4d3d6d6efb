"""A relay before a PostgreSQL socket that can be slow or silent, as a server that is cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict


class Relay:
    """Passes bytes on both ways unless it is ``silent``; connections are accepted all the same.

    What clients send waits ``delay_s`` seconds first.
    """

    def __init__(self, socket: str) -> None:
        self.delay_s = 0.0
        self._socket = socket
        self._speaks = asyncio.Event()
        self._speaks.set()

    def silence(self) -> None:
        """From now on nothing passes, and nobody is told."""
        self._speaks.clear()

    def speak(self) -> None:
        """Passes on what has come meanwhile, and what follows."""
        self._speaks.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            there, back = await asyncio.open_unix_connection(self._socket)
        except OSError:
            writer.close()
            return
        with suppress(ConnectionError):
            await asyncio.gather(
                self._pass(reader, back, is_request=True), self._pass(there, writer)
            )

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_request: bool = False,
    ) -> None:
        try:
            while data := await reader.read(65_536):
                if is_request and self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await self._speaks.wait()
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def relaying(url: str, host: str = "127.0.0.1") -> AsyncIterator[tuple[Relay, str]]:
    """The relay in front of the server of ``url``, which names a socket folder; and its own URL."""
    named = conninfo_to_dict(url)
    relay = Relay(f"{named['host']}/.s.PGSQL.{named.get('port', 5432)}")
    server = await asyncio.start_server(relay.serve, host, 0)
    port = server.sockets[0].getsockname()[1]
    at = f"[{host}]" if ":" in host else host
    rest = urlencode({"sslmode": "disable", "gssencmode": "disable"})
    try:
        yield relay, f"postgresql://{named['user']}@{at}:{port}/{named['dbname']}?{rest}"
    finally:
        relay.speak()
        server.close()
