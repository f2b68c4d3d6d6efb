"""Measures the evaluation's own speed in questions a second, with a model that answers at once.

``python -m bench.harness BENCHMARK [K]``: the whole pipeline, guard, databases, vote and
judging; the model answers half of the samples with the gold query, the others with a wrong one. The
result is the upper bound for measurements with any model.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from data.benchmarks.load import load_benchmark
from evaluation.runs.run_folder import read_run
from evaluation.runs.variants import build_curve
from nl2sql.settings import load_settings
from nl2sql.types import Completions, SamplingRequest
from serve_app.operations.benchmarks import prepare_benchmark
from serve_app.operations.measuring import MeasureOptions, measure
from serve_app.reporting import Silence
from tests.fakes import StubEngine


class InstantModel(StubEngine):
    """A model that knows the gold of every question."""

    def __init__(self, golds: dict[str, str]) -> None:
        self._golds = golds

    async def sample(self, request: SamplingRequest) -> Completions:
        """The gold query, and for every second sample another query."""
        question = request.prompt.messages[-1].content.rpartition("Question: ")[2].strip()
        gold = self._golds[question]
        texts = tuple(gold if at % 2 == 0 else "SELECT 1" for at in range(request.k))
        return Completions(texts, prompt_tokens=1, completion_tokens=1)


async def main(name: str, k: int) -> None:
    """Runs the benchmark once and prints questions a second."""
    settings = load_settings(Path("quorumsql.yaml"))
    benchmark = load_benchmark(name, configured=settings.databases)
    ready = await prepare_benchmark(settings, benchmark, Silence())
    model = InstantModel(
        {example.question.strip(): example.golds[0] for example in benchmark.examples}
    )
    started: list[float] = []

    def follow(done: int, total: int, correct: int) -> None:
        if not started:
            started.append(time.perf_counter())  # loading is over

    with tempfile.TemporaryDirectory() as folder:
        options = MeasureOptions(Path(folder), name)
        variants = build_curve(ready.wiring.settings, [k], "")
        (run,) = await measure(ready, variants, options, Silence(), follow=follow, engine=model)
        seconds = time.perf_counter() - started[0]
        records = read_run(run)[1]
    right = sum(record.correct for record in records)
    print(
        f"{benchmark.name} K={k}: {len(records)} questions in {seconds:.1f} s, "
        f"{len(records) / seconds:.0f} a second, {right} right"
    )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1))
