"""Measures the effect of connections that never finish their request on other requests.

``python -m tests.benchmarks.http_load [URL] [TOKEN]``: the time of ``GET /healthz`` and of a
``POST /query`` with a picked query, each over a new connection, with and without 500
half-open connections. Without a URL it starts the service of quorumsql.yaml on Ray, with a model
that echoes.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from nl2sql.settings import load_settings
from serve_app.operations.preparation import prepare
from serve_app.reporting import Silence
from tests.serve_app.ray.ray_service import serving

_COUNT = 500
_REPEATS = 400
_PAUSE_S = 0.02
_TIMEOUT_S = 10
# All are open by then.
_SETTLED_S = 5


def main(url: str, token: str) -> None:
    """Prints a line for each route without, with, and again without the half-open connections."""
    print("half-open | route | p50 ms | p99 ms | most ms | not 200")
    for count in (0, _COUNT, 0):
        asyncio.run(_measure(url, token, count))


async def _measure(url: str, token: str, count: int) -> None:
    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port or 80
    async with _half_open(host, port, count):
        for method, path, body in (
            ("GET", "/healthz", b""),
            ("POST", "/query", b'{"question": "How many are there?", "picked": "SELECT 1"}'),
        ):
            request = (
                f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            ).encode() + body
            times, wrong = [], 0
            for _ in range(_REPEATS):
                started = time.perf_counter()
                answer = await _ask(host, port, request)
                times.append((time.perf_counter() - started) * 1000)
                wrong += not answer.startswith(b"HTTP/1.1 200 ")
                await asyncio.sleep(_PAUSE_S)
            p99 = statistics.quantiles(times, n=100, method="inclusive")[98]
            figures = f"{statistics.median(times):.1f} | {p99:.1f} | {max(times):.1f}"
            print(f"{count} | {path} | {figures} | {wrong}", flush=True)


@asynccontextmanager
async def _half_open(host: str, port: int, count: int) -> AsyncIterator[None]:
    """Runs in a separate process, whose work does not affect the times."""
    program = ("-m", "tests.serve_app.half_open", host, str(port), str(count))
    process = await asyncio.create_subprocess_exec(sys.executable, *program)
    try:
        await asyncio.sleep(_SETTLED_S)
        yield
    finally:
        process.kill()
        await process.wait()


async def _ask(host: str, port: int, request: bytes) -> bytes:
    """The whole answer; empty if none came in time."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(request)
            answer = await reader.read()
            writer.close()
            return answer
    except (OSError, TimeoutError):
        return b""


@contextmanager
def _service() -> Iterator[str]:
    settings = load_settings(Path("quorumsql.yaml"))
    wiring = asyncio.run(
        prepare(settings, Silence(), databases=list(settings.databases), strict=False)
    )
    with serving(wiring, fuse_cpu_stages=True, dashboard=False) as url:
        yield url


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    else:
        with _service() as where:
            main(where, "")
