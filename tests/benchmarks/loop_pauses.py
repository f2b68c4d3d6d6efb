"""Measures pauses of the ingress's event loop under concurrent questions, and their causes.

``python -m tests.benchmarks.loop_pauses [--at-once 16] [--questions 40] [--config FILE]``: the
demo's questions against the real ``Ingress`` with all CPU stages, ``--at-once`` at a time, with the
fake model of ``tests.benchmarks.ingress``. A coroutine that should run every millisecond measures
its delay; while that exceeds 20 ms, a thread samples the stack of the loop's thread every 5 ms. All
questions have been asked once before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from starlette.types import ASGIApp

from data.benchmarks.load import load_benchmark
from evaluation.metrics.statistics import percentile
from nl2sql.settings import load_settings
from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import prepare
from serve_app.ray.replicas import Ingress
from serve_app.reporting import Silence
from tests.benchmarks.ingress import FakeHandle, FakeModel, K, read_context, write_texts
from tests.event_loop_watch import EventLoopWatch
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope


class PromptedModel(FakeModel):
    """Finds the question in the prompt, since many are asked concurrently."""

    async def sample(self, request: SamplingRequest, caller: str = "") -> Completions:
        """See ``FakeModel.sample``."""
        prompt = request.prompt.messages[-1].content
        found = [question for question in self._texts if question in prompt]
        self.asked = max(found, key=len, default=next(iter(self._texts)))
        return await super().sample(request)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--config", type=Path, default=Path("quorumsql.yaml"))
    asked = parser.parse_args()
    settings = load_settings(asked.config)
    wiring = asyncio.run(prepare(settings, Silence(), databases=[settings.default_database]))
    examples = load_benchmark("demo_erp", configured=settings.databases).examples
    texts = write_texts(examples[: asked.questions], read_context(wiring))
    watch = asyncio.run(_measure(wiring, texts, asked.at_once))
    late = sorted(watch.pauses_ms)
    print(
        f"{len(texts)} questions, {asked.at_once} at once: the loop was late by {late[-1]:.0f} ms "
        f"at most, p99 {percentile(late, 99):.1f} ms; over 20 ms "
        f"{sum(pause > 20 for pause in late)} times"
    )
    print(watch.describe())


async def _measure(
    wiring: Wiring, texts: Mapping[str, Sequence[str]], at_once: int
) -> EventLoopWatch:
    app = Ingress(wiring, FakeHandle(PromptedModel(texts))).__serve_build_asgi_app__()
    await _ask_all(app, list(texts), at_once)
    watch = EventLoopWatch()
    async with watch.watch():
        await _ask_all(app, list(texts), at_once)
    return watch


async def _ask_all(app: ASGIApp, questions: Sequence[str], at_once: int) -> None:
    slots = asyncio.Semaphore(at_once)

    async def ask(question: str) -> None:
        async with slots:
            exchange = Exchange([json.dumps({"question": question, "k": K}).encode()])
            await exchange.send_to(app, build_scope("POST", "/query", (HOST, JSON)))
            assert exchange.status == 200, exchange.body

    async with asyncio.TaskGroup() as group:
        for question in questions:
            group.create_task(ask(question))


if __name__ == "__main__":
    main()
