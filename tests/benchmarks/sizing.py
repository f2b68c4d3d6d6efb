"""Compares the sizing simulation with services that run here.

    python -m tests.benchmarks.sizing [--replicas 2] [--engine-s 1.0] [--busy 0.7] [--seconds 100]

As many services over fakes as ``--replicas``, each in a process of its own, share as many engines,
in another process, that answer one question at a time. ``--busy`` is the load in parts of what
these engines can answer. Questions arrive as a Poisson process, from one principal. The simulation
gets the same arrival times, the engine's time, and what a question takes besides, which is measured
with one question at a time before. It is repeated with ten seeds, which only route differently.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from random import Random
from statistics import fmean, median
from typing import Any

import aiohttp
import psutil

from evaluation.metrics.statistics import percentile
from evaluation.sizing.admission import AdmissionLimits
from evaluation.sizing.engine import EngineProfile, SamplingCost
from evaluation.sizing.service import WARM_UP, Deployment, simulate
from evaluation.sizing.workload import QuestionCost, draw_arrivals
from nl2sql.settings.serve import ServeSettings
from nl2sql.types import Generated, Question
from serve_app.service.load import Load
from tests.benchmarks.slow_texts import LoopingGenerator
from tests.fakes import build_candidate, build_generated, build_result
from tests.serve_app.served import build_app, serve

_ALONE = 8
_SEEDS = 10
_PERCENTS = (50, 95, 99)


class RemoteGenerator(LoopingGenerator):
    """Asks the engines for every question, and returns the same candidate."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    async def generate(self, question: Question, *_: Any, **__: Any) -> Generated:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        await reader.readline()
        writer.close()
        return build_generated(build_candidate("SELECT 1"))


def run_engines(connection: Connection, engines: int, engine_s: float) -> None:
    """Answers every connection with a line, when the less busy of two random engines is free."""
    random = Random(0)
    locks = [asyncio.Lock() for _ in range(engines)]
    present = [0] * engines

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, second = random.sample(range(engines), 2)
        chosen = first if present[first] <= present[second] else second
        present[chosen] += 1
        async with locks[chosen]:
            await asyncio.sleep(engine_s)
        present[chosen] -= 1
        writer.write(b"done\n")
        await writer.drain()
        writer.close()

    async def listen() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        connection.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(listen())


def run_service(connection: Connection, port: int) -> None:
    """Serves until the other end closes."""
    results = {"SELECT 1": [build_result((1,))] * 1_000_000}
    with serve(build_app(generator=RemoteGenerator(port), results=results)) as url:
        connection.send(url)
        connection.poll(None)


@dataclass(slots=True)
class Measured:
    """Arrival and latency in seconds of answered questions, and arrivals of refused ones."""

    answered: list[tuple[float, float]] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)

    def summarize(self, end_s: float) -> dict[str, float]:
        """Percentiles and the refused share after the warm-up."""
        warm = WARM_UP * end_s
        latencies = [latency for arrival, latency in self.answered if arrival >= warm]
        refused = sum(arrival >= warm for arrival in self.refused)
        found = {f"p{percent}": percentile(latencies, percent) for percent in _PERCENTS}
        return found | {"refused": refused / (refused + len(latencies))}


async def ask_all(urls: list[str], arrivals: tuple[float, ...]) -> Measured:
    """Asks at these times, each question the less busy of two random services."""
    found, random, numbers = Measured(), Random(0), count()
    present = dict.fromkeys(urls, 0)
    start = time.monotonic()
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as client:

        async def ask(arrival: float) -> None:
            url = min(random.sample(urls, 2), key=present.__getitem__)
            present[url] += 1
            # Identical questions would be answered once.
            body = {"question": f"How many orders of {next(numbers)}?"}
            async with client.post(f"{url}/query", json=body) as response:
                await response.read()
            present[url] -= 1
            if response.status == 200:
                found.answered.append((arrival, time.monotonic() - start - arrival))
            else:
                assert response.status == 503, response.status
                found.refused.append(arrival)

        async with asyncio.TaskGroup() as group:
            for arrival in arrivals:
                await asyncio.sleep(start + arrival - time.monotonic())
                group.create_task(ask(arrival))
    return found


def predict(
    options: argparse.Namespace, arrivals: tuple[float, ...], own_s: float
) -> dict[str, float]:
    """The means of the simulation's figures over the seeds."""
    profile = EngineProfile(
        name="fake",
        source="a fake",
        is_measured=True,
        prompt_tokens_per_s=1e9,
        step_ms={1: 1000 * options.engine_s},
        kv_tokens=10,
        max_requests=1,
    )
    settings = ServeSettings()
    deployment = Deployment(
        options.replicas,
        options.replicas,
        profile,
        AdmissionLimits(settings.max_ongoing_requests, settings.max_waiting_requests),
        lambda: Load(settings.max_slowdown),
    )
    workload = (QuestionCost(own_s / 2, SamplingCost(0, 1.0, 1), own_s / 2),)
    found = [
        simulate(deployment, workload, arrivals, principals=1, seed=seed) for seed in range(_SEEDS)
    ]
    figures = {f"p{at}": fmean(one.latency_s(at) for one in found) for at in _PERCENTS}
    return figures | {"refused": fmean(one.refused_share for one in found)}


def start(context: Any, run: Callable[..., None], *arguments: object) -> tuple[SpawnProcess, Any]:
    """The process, and what it reports when it is ready."""
    ours, theirs = context.Pipe()
    process = context.Process(target=run, args=(theirs, *arguments), daemon=True)
    process.start()
    told = ours.recv()
    _PIPES.append(ours)
    return process, told


_PIPES: list[Any] = []
"""Kept open: the services serve until the other end closes."""


def main() -> None:
    """Prints predicted and measured figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--engine-s", type=float, default=1.0)
    parser.add_argument("--busy", type=float, default=0.7)
    parser.add_argument("--seconds", type=float, default=100.0)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    engines, port = start(context, run_engines, options.replicas, options.engine_s)
    services = [start(context, run_service, port) for _ in range(options.replicas)]
    urls = [url for _, url in services]
    per_minute = 60 * options.busy * options.replicas / options.engine_s
    arrivals = draw_arrivals(per_minute, options.seconds)
    alone = asyncio.run(
        ask_all(urls, tuple(at * (options.engine_s + 0.2) for at in range(2 * _ALONE)))
    )
    # The first questions of each service fill its caches.
    own_s = median(latency for _, latency in alone.answered[_ALONE:]) - options.engine_s
    processes = [psutil.Process(process.pid) for process, _ in services]
    before = sum(sum(process.cpu_times()[:2]) for process in processes)
    measured = asyncio.run(ask_all(urls, arrivals))
    cpu_s = sum(sum(process.cpu_times()[:2]) for process in processes) - before
    figures = {
        "options": vars(options),
        "questions": len(arrivals),
        "own_ms": 1000 * own_s,
        "cpu_ms": 1000 * cpu_s / len(arrivals),
        "load_average": psutil.getloadavg()[0],
        "predicted": predict(options, arrivals, own_s),
        "measured": measured.summarize(arrivals[-1]),
    }
    print(json.dumps(figures, indent=1))
    for process in (engines, *(process for process, _ in services)):
        process.terminate()


if __name__ == "__main__":
    main()
