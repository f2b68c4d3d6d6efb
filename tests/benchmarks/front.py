"""What each HTTP interface costs, and how soon its streams begin, go on and end.

    python -m tests.benchmarks.front [--clients 200] [--seconds 60]

A service over fakes runs in a process of its own; this process asks. First it answers at once, and
the interfaces take turns, so that other work on the machine meets all of them. Then one question at
a time takes seconds: measured are the first byte, the longest silence, and the time from a client's
leaving to the cancellation of its work.
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

from nl2sql.types import Generated, Question
from tests.benchmarks.slow_texts import LoopingGenerator
from tests.fakes import build_candidate, build_generated, build_result
from tests.serve_app.served import build_app, serve

_QUESTION = "How many orders?"
_TURNS = 6
_SLOW = "How many slow orders?"
_SLOW_S = 7.0
_STREAMS = 20
_CHAT = {"model": "quorumsql", "messages": [{"role": "user", "content": _QUESTION}]}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "query": ("/query", {"question": _QUESTION}),
    "v1": ("/v1/chat/completions", _CHAT),
    "v1 stream": ("/v1/chat/completions", {**_CHAT, "stream": True}),
}


class Generator(LoopingGenerator):
    """The same candidate for every question, for a slow one after some seconds.

    ``running``, shared between processes, counts the slow ones under way.
    """

    def __init__(self, running: Any = None) -> None:
        super().__init__()
        self._running = running

    async def generate(self, question: Question, *_: Any, **__: Any) -> Generated:
        if self._running is not None and question.text == _SLOW:
            self._running.value += 1
            try:
                await asyncio.sleep(_SLOW_S)
            finally:
                self._running.value -= 1
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


def run_service(connection: Connection, running: Any) -> None:
    """Serves until the other end closes."""
    results = {"SELECT 1": [build_result((1,))] * 3_000_000}
    with serve(build_app(generator=Generator(running), results=results)) as url:
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


async def time_stream(url: str, path: str, body: dict[str, Any], running: Any) -> list[float]:
    """Milliseconds to the first byte, of the longest silence, from leaving to the work's end."""
    headers = {"accept": "text/event-stream"}
    async with aiohttp.ClientSession(url) as client:
        last = start = time.perf_counter()
        response = await client.post(path, json=body, headers=headers)
        first, silence = 0.0, 0.0
        while time.perf_counter() - start < _SLOW_S - 1:
            await response.content.readany()
            now = time.perf_counter()
            first = first or now - start
            silence, last = max(silence, now - last), now
        assert running.value == 1
        response.close()
        left = time.perf_counter()
        while running.value:  # noqa: ASYNC110 - it is another process's
            await asyncio.sleep(0.001)
        return [1000 * first, 1000 * silence, 1000 * (time.perf_counter() - left)]


async def time_streams(url: str, running: Any) -> None:
    """Prints the largest of each figure for the native stream and that of ``/v1``."""
    slow_chat: dict[str, Any] = {
        "model": "quorumsql",
        "messages": [{"role": "user", "content": _SLOW}],
        "stream": True,
    }
    slow_query: dict[str, Any] = {"question": _SLOW}
    ways = {"query": ("/query", slow_query), "v1": ("/v1/chat/completions", slow_chat)}
    for way, (path, body) in ways.items():
        times = [await time_stream(url, path, body, running) for _ in range(_STREAMS)]
        worst = [max(column) for column in zip(*times, strict=True)]
        print(
            f"{way} stream, slowest of {_STREAMS}: first byte {worst[0]:.0f} ms, "
            f"silence {worst[1]:.0f} ms, work ended {worst[2]:.0f} ms after the client left"
        )


def main() -> None:
    """Prints a line for each interface, and the service's memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    running = multiprocessing.Value("i", 0)
    service = multiprocessing.Process(target=run_service, args=(theirs, running))
    service.start()
    url = ours.recv()
    memory = psutil.Process(service.pid).memory_info
    figures = {way: Figures() for way in WAYS}
    asyncio.run(ask_all(url, "query", options.clients, 2, Figures()))
    held = [memory().rss]
    for _ in range(_TURNS):
        for way in WAYS:
            seconds = options.seconds / _TURNS
            asyncio.run(ask_all(url, way, options.clients, seconds, figures[way]))
        held.append(memory().rss)
    print(f"{options.clients} clients, {options.seconds:.0f} s each")
    for way, found in figures.items():
        print(found.render(way))
    print("memory", " → ".join(f"{size / 2**20:.0f}" for size in held), "MiB")
    asyncio.run(time_streams(url, running))
    ours.close()
    service.terminate()


if __name__ == "__main__":
    main()
