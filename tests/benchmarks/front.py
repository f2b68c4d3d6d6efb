"""What each HTTP interface costs: answers a second of ``/v1`` against ``POST /query``.

    python -m tests.benchmarks.front [--clients 200] [--seconds 60]

A service over fakes answers at once, in a process of its own; this process asks. The interfaces
take turns, so that other work on the machine meets all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
import numpy as np
import psutil

from nl2sql.types import Generated
from tests.benchmarks.slow_texts import LoopingGenerator
from tests.fakes import build_candidate, build_generated, build_result
from tests.serve_app.served import build_app, serve

_QUESTION = "How many orders?"
_TURNS = 6
_CHAT = {"model": "quorumsql", "messages": [{"role": "user", "content": _QUESTION}]}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "query": ("/query", {"question": _QUESTION}),
    "v1": ("/v1/chat/completions", _CHAT),
    "v1 stream": ("/v1/chat/completions", {**_CHAT, "stream": True}),
}


class Generator(LoopingGenerator):
    """The same candidate for every question."""

    async def generate(self, *_: Any, **__: Any) -> Generated:
        return build_generated(build_candidate("SELECT 1"))


@dataclass(slots=True)
class Figures:
    """Seconds of each answer, the errors, and the seconds in which they came."""

    latencies: list[float] = field(default_factory=list)
    errors: int = 0
    seconds: float = 0.0

    def render(self, name: str) -> str:
        """One line."""
        p50, p99 = np.percentile(self.latencies, (50, 99)) * 1000
        rate = len(self.latencies) / self.seconds
        return (
            f"{name:12} {rate:8.1f}/s  p50 {p50:7.0f} ms  p99 {p99:7.0f} ms  errors {self.errors}"
        )


def run_service(connection: Connection) -> None:
    """Serves until the other end closes."""
    results = {"SELECT 1": [build_result((1,))] * 3_000_000}
    with serve(build_app(generator=Generator(), results=results)) as url:
        connection.send(url)
        connection.poll(None)


async def ask_all(url: str, way: str, clients: int, seconds: float, figures: Figures) -> None:
    """So many clients ask one after the other for that long."""
    path, body = WAYS[way]
    end = time.monotonic() + seconds
    # httpx takes more processor time than the service.
    async with aiohttp.ClientSession(
        url, connector=aiohttp.TCPConnector(limit=clients), timeout=aiohttp.ClientTimeout(60)
    ) as client:

        async def ask() -> None:
            while (start := time.monotonic()) < end:
                try:
                    async with client.post(path, json=body) as response:
                        await response.read()
                        figures.errors += response.status != 200
                except (aiohttp.ClientError, TimeoutError):
                    figures.errors += 1
                figures.latencies.append(time.monotonic() - start)

        await asyncio.gather(*(ask() for _ in range(clients)))
    figures.seconds += time.monotonic() - end + seconds


def main() -> None:
    """Prints a line for each interface, and the service's memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    service = multiprocessing.Process(target=run_service, args=(theirs,))
    service.start()
    url = ours.recv()
    memory = psutil.Process(service.pid).memory_info
    figures = {way: Figures() for way in WAYS}
    asyncio.run(ask_all(url, "query", options.clients, 2, Figures()))
    before = memory().rss
    for _ in range(_TURNS):
        for way in WAYS:
            seconds = options.seconds / _TURNS
            asyncio.run(ask_all(url, way, options.clients, seconds, figures[way]))
    print(f"{options.clients} clients, {options.seconds:.0f} s each")
    for way, found in figures.items():
        print(found.render(way))
    print(f"memory {before / 2**20:.0f} → {memory().rss / 2**20:.0f} MiB")
    ours.close()
    service.terminate()


if __name__ == "__main__":
    main()
