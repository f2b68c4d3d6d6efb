"""Clients that open a connection and never finish what they send."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_HALF_HEAD = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: applic"
_HEAD = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HALF_SENT = {
    "half a head": _HALF_HEAD,
    "half a body": _HEAD + b"Content-Length: 60\r\n\r\n{",
    "half a chunked body": _HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
}
_AGAIN_S = 1.0


@asynccontextmanager
async def half_open(host: str, port: int, count: int) -> AsyncIterator[None]:
    """``count`` connections of all kinds in turn; a closed one comes again about a second later."""
    sent = list(HALF_SENT.values())
    tasks = [asyncio.create_task(_insist(host, port, sent[at % len(sent)])) for at in range(count)]
    try:
        await asyncio.sleep(2 * _AGAIN_S)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _insist(host: str, port: int, sent: bytes) -> None:
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(sent)
                while await reader.read(4096):
                    continue
            finally:
                writer.close()
        await asyncio.sleep(_AGAIN_S * random.uniform(0.5, 1.5))


async def main(host: str, port: int, count: int) -> None:
    """Until it is killed."""
    async with half_open(host, port, count):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
