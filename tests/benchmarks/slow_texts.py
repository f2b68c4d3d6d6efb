"""Measures the latency of ``/healthz`` while the slowest texts to parse are being processed.

``python -m tests.benchmarks.slow_texts --seconds 30`` starts the service in a separate process,
with its guard, lint, repairs and extraction over a model that only writes such texts, keeps 64
questions in flight, and asks for ``/healthz`` every 20 ms. Prints p50, p99 and the longest wait,
first with nothing in flight.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import logging
import multiprocessing
import socket
import statistics
import time
from multiprocessing.connection import Connection

import httpx
import uvicorn
from starlette.types import ASGIApp

from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from generation.sampling.merging import merge_candidates
from nl2sql.deadline import NEVER, Deadline
from nl2sql.pipeline.pipeline import Pipeline, Stages
from nl2sql.settings import LimitSettings
from nl2sql.sql.threads import read_aside
from nl2sql.types import (
    Completions,
    Diagnostic,
    ExecutionLimits,
    Generated,
    GuardedQuery,
    Plan,
    Prompt,
    Question,
    SchemaContext,
)
from ranking.ranker import CandidateRanker
from repair.repairer import CandidateRepairer
from serve_app.http.app import build_http_app
from serve_app.service.query_service import QueryService
from tests.fakes import (
    FakeCatalogs,
    FakeEngine,
    FakeGenerator,
    FakePlanner,
    FakeRetriever,
    build_settings,
)
from tests.fakes.shop import SHOP
from tests.oracle.text_stages import POLICY

IN_FLIGHT = 64
_PAUSE_S = 0.02

TEXTS = (
    "SELECT " + "DATE(" * 16 + "1" + ")" * 16,
    "SELECT " + "ARRAY[" * 17 + "1" + "]" * 17,
    "SELECT " + "STRUCT(" * 39 + "1" + ")" * 39,
    "SELECT " + "DATE(DATE(DATE(1))), " * 150 + "1 FROM orders",
    "SELECT " + "1, " * 1_990 + "1 FROM orders",
    "SELECT id FROM orders WHERE " + "id = 1 OR " * 900 + "true",
    "SELECT id FROM orders UNION ALL " * 500 + "SELECT id FROM orders",
    "SELECT " + "(" * 9_000 + "1" + ")" * 9_000,
    "SELECT " + "a." * 9_000 + "b FROM orders",
    "SELECT CAST(id AS" + "\n" * 19_000 + "x) FROM orders",
    "Here it is:\n" + "SELECT (\n\n" * 1_500,
    "SELECT /*" * 2_000,
)
"""The slowest texts that the search in ``tests.oracle.slow_texts`` found, and similar ones."""


class LoopingGenerator(FakeGenerator):
    """A model that writes one slow text after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = itertools.cycle(TEXTS)

    async def generate(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        *,
        before: Generated | None = None,
        deadline: Deadline = NEVER,
    ) -> Generated:
        """One candidate, whose text is in no cache."""
        text = f"{next(self._texts)} -- {time.perf_counter_ns()}"
        drawn = [("ddl", Completions((text,), 1, 1))]
        return Generated(
            prompt=Prompt("generate", ()),
            candidates=await read_aside(merge_candidates, drawn, context.dialect),
            prompt_tokens=1,
            completion_tokens=1,
            samples=1,
        )


class RefusingExecutor:
    """A database that answers at once, so that only parsing takes time."""

    async def explain(self, query: GuardedQuery, *, identify: bool = False) -> Diagnostic:
        return _TOO_LONG

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> Diagnostic:
        return _TOO_LONG


_TOO_LONG = Diagnostic("57014", "The statement took too long.")


def build_app() -> ASGIApp:
    """The service over a fake model and database; everything that parses SQL is real."""
    limits = LimitSettings(request_timeout_ms=600_000)
    settings = build_settings(
        limits=limits.model_dump(),
        identity={"local": {"roles": ["buyer"], "attributes": {"customer": 3}}},
    )
    guard = SqlGuard(FakeCatalogs(SHOP), {"shop": PolicySettings(parse_policy(POLICY))})
    stages = Stages(
        FakeRetriever(),
        FakePlanner(),
        LoopingGenerator(),
        guard,
        CandidateRanker(guard, RefusingExecutor(), settings),
        CandidateRepairer(FakeEngine(), settings),
    )
    pipeline = Pipeline(stages, model_repair=False)
    return build_http_app(settings, QueryService(settings, pipeline, {}))


def serve(told: Connection) -> None:
    """Serves on a free port, which it reports."""
    logging.disable(logging.WARNING)
    app = build_app()
    # As the service does (serve_app/ray/replicas.py).
    gc.collect()
    gc.freeze()
    config = uvicorn.Config(app, log_level="error", lifespan="off")
    with socket.create_server(("127.0.0.1", 0), backlog=2 * IN_FLIGHT) as listening:
        told.send(listening.getsockname()[1])
        uvicorn.Server(config).run([listening])


async def measure(address: str, seconds: float, in_flight: int) -> tuple[list[float], int]:
    """Milliseconds of each ``/healthz``, and the number of questions answered meanwhile."""
    answered = 0
    limits = httpx.Limits(max_connections=in_flight + 1)
    async with httpx.AsyncClient(base_url=address, timeout=None, limits=limits) as client:

        async def keep_asking() -> None:
            nonlocal answered
            while True:
                response = await client.post("/query", json={"question": "How many orders?"})
                assert response.status_code == 200, response.text
                answered += 1

        asking = [asyncio.create_task(keep_asking()) for _ in range(in_flight)]
        await asyncio.sleep(1)
        waits = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter()
            (await client.get("/healthz")).raise_for_status()
            waits.append((time.perf_counter() - start) * 1000)
            await asyncio.sleep(_PAUSE_S)
        for task in asking:
            task.cancel()
        for result in await asyncio.gather(*asking, return_exceptions=True):
            if not isinstance(result, asyncio.CancelledError):
                raise AssertionError(f"A question failed: {result!r}")
    return waits, answered


def main() -> None:
    """Prints the latencies without and with slow texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    seconds = parser.parse_args().seconds
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there,), daemon=True)
    process.start()
    address = f"http://127.0.0.1:{here.recv()}"
    print(f"{'in flight':>10} {'probes':>7} {'p50 ms':>8} {'p99 ms':>8} {'longest':>8} answered")
    for in_flight in (0, IN_FLIGHT):
        waits, answered = asyncio.run(measure(address, seconds, in_flight))
        cuts = statistics.quantiles(waits, n=100)
        print(
            f"{in_flight:10} {len(waits):7} {cuts[49]:8.1f} {cuts[98]:8.1f} {max(waits):8.1f} "
            f"{answered:9}"
        )
    process.terminate()


if __name__ == "__main__":
    main()
