"""What a service does at half and at twice its capacity: times of answers, refusals, errors.

    python -m bench.overload [--seconds 30] [--clients 0] [--config quorumsql.yaml]

The service of the settings file runs on Ray with a model that echoes after 50 ms; the questions are
the demo's gold queries, no two the same. Eight clients, one question after another, give the
capacity. Then questions come at random times, whether earlier ones are answered or not, at half of
it and at twice: one in twenty clients leaves early, one in twenty requests is invalid. The rows of
each answer are compared with those of the same query before.

With ``--clients``, so many ask one such question after another instead, and wait as long as
``Retry-After`` says when they are refused; the memory of the replicas is printed each minute.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil

from data.benchmarks.load import load_benchmark
from nl2sql.settings import load_settings
from nl2sql.types import Completions, SamplingRequest
from serve_app.operations.preparation import prepare
from serve_app.reporting import Silence
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.ray.ray_service import serving

_CLIENTS = 8
_ENGINE_S = 0.05
_LEAVES_AFTER_S = 0.1


class SlowEcho(EchoEngine):
    """Takes as long as a fast model on a GPU."""

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``EchoEngine.sample``."""
        await asyncio.sleep(_ENGINE_S)
        return await super().sample(request)


@dataclass(slots=True)
class Seen:
    """Seconds of answers and of refusals, how requests ended, and answers with other rows."""

    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    wrong: int = 0

    def render(self, name: str, seconds: float) -> str:
        """Two lines."""
        times = {"answered": self.answered, "refused": self.refused}
        columns = [f"{name:15} {len(self.answered) / seconds:6.1f} answers/s  wrong {self.wrong}"]
        for kind, taken in times.items():
            if taken:
                p50, p95, p99 = np.percentile(taken, (50, 95, 99)) * 1000
                columns.append(f"{kind} p50 {p50:.0f} p95 {p95:.0f} p99 {p99:.0f} ms")
        return "  ".join(columns) + f"\n{'':15} {dict(self.ends)}"


class Client:
    """Asks distinct questions, each a gold query with a number."""

    def __init__(self, session: aiohttp.ClientSession, queries: list[str]) -> None:
        self._session = session
        self._queries = itertools.cycle(queries)
        self._numbers = itertools.count()
        self._rows: dict[str, Any] = {}

    async def learn(self) -> None:
        """Remembers the rows of each query, and leaves out those that are not answered alone."""
        good = []
        for query in {next(self._queries): None for _ in range(100)}:
            _, body, _ = await self._ask(query)
            if body.get("outcome") == "answered":
                good.append(query)
                self._rows[query] = body["rows"]
        self._queries = itertools.cycle(good)

    async def ask(self, seen: Seen, fate: float) -> float:
        """One request; ``fate`` from 0 to 1 decides whether it is invalid, or its client leaves.

        The seconds after which to come again.
        """
        query = next(self._queries)
        start = time.monotonic()
        try:
            if fate < 0.05:
                async with asyncio.timeout(_LEAVES_AFTER_S):
                    status, _, retry_s = await self._ask(query)
                seen.ends["answered before it left"] += status == 200
                return retry_s
            status, body, retry_s = await self._ask("" if fate > 0.95 else query)
        except TimeoutError:
            seen.ends["left"] += 1
            return 0.0
        except aiohttp.ClientError as error:
            seen.ends[type(error).__name__] += 1
            return 0.0
        taken = time.monotonic() - start
        seen.ends[f"{status} {body.get('outcome', '')}".strip()] += 1
        if status == 503:
            seen.refused.append(taken)
        elif status == 200:
            seen.answered.append(taken)
            seen.wrong += body["outcome"] == "answered" and body["rows"] != self._rows[query]
        return retry_s

    async def _ask(self, query: str) -> tuple[int, dict[str, Any], float]:
        question = f"{query} /* {next(self._numbers)} */" if query else ""
        async with self._session.post("/query", json={"question": question, "k": 1}) as response:
            retry_s = float(response.headers.get("Retry-After", 0))
            return response.status, await response.json(content_type=None), retry_s


async def ask_in_turn(client: Client, clients: int, seconds: float, *, mixed: bool) -> Seen:
    """So many clients, each asking when it has its answer, or when it may come again.

    ``mixed`` requests are partly invalid, and some clients leave.
    """
    seen, end = Seen(), time.monotonic() + seconds

    async def ask(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < end:
            retry_s = await client.ask(seen, chance.random() if mixed else 0.5)
            await asyncio.sleep(retry_s)

    await asyncio.gather(*map(ask, range(clients)))
    return seen


async def ask_at_random(client: Client, rate: float, seconds: float) -> Seen:
    """Questions at random times, so many a second on average."""
    seen, chance = Seen(), random.Random(1)
    start = time.monotonic()
    async with asyncio.TaskGroup() as asking:
        at = 0.0
        while at < seconds:
            at += chance.expovariate(rate)
            await asyncio.sleep(start + at - time.monotonic())
            asking.create_task(client.ask(seen, chance.random()))
    return seen


async def measure(url: str, queries: list[str], seconds: float, clients: int) -> None:
    """Prints the capacity, and a pair of lines for each load; or those of so many clients."""
    limits, patience = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(180)
    async with aiohttp.ClientSession(url, connector=limits, timeout=patience) as session:
        client = Client(session, queries)
        await client.learn()
        if clients:
            watching = asyncio.create_task(print_memory())
            found = await ask_in_turn(client, clients, seconds, mixed=True)
            watching.cancel()
            print(found.render(f"{clients} clients", seconds))
            return
        # A new service is slower for some time.
        await ask_in_turn(client, _CLIENTS, seconds / 2, mixed=False)
        capacity = await ask_in_turn(client, _CLIENTS, seconds / 2, mixed=False)
        rate = len(capacity.answered) / (seconds / 2)
        print(capacity.render("eight clients", seconds / 2))
        for name, part in (("half of it", 0.5), ("twice as much", 2.0), ("half again", 0.5)):
            found = await ask_at_random(client, part * rate, seconds)
            print(found.render(name, seconds), flush=True)


def list_memory() -> Iterator[str]:
    """The memory of each replica."""
    for process in psutil.process_iter(["cmdline", "memory_info"]):
        title = " ".join(process.info["cmdline"] or ())
        if title.startswith("ray::ServeReplica"):
            name = title.split(":")[-1].split(".")[0].strip()
            yield f"{name} {process.info['memory_info'].rss / 2**20:.0f} MiB"


async def print_memory() -> None:
    """Each minute."""
    while True:
        await asyncio.sleep(60)
        print("memory:", "; ".join(sorted(list_memory())), flush=True)


def main() -> None:
    """Starts the service and prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=0, help="instead, a steady load of so many")
    parser.add_argument("--config", type=Path, default=Path("quorumsql.yaml"))
    options = parser.parse_args()
    settings = load_settings(options.config)
    wiring = asyncio.run(prepare(settings, Silence(), databases=[settings.database_name(None)]))
    queries = [
        example.golds[0]
        for example in load_benchmark("demo_erp", configured=settings.databases).examples
    ]
    with serving(wiring, engine=SlowEcho, fuse_cpu_stages=True, dashboard=False) as url:
        asyncio.run(measure(url, queries, options.seconds, options.clients))
        print("memory:", "; ".join(sorted(list_memory())))


if __name__ == "__main__":
    main()
