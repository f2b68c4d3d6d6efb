"""Compares the rate of a job with that of the evaluation in one process, on the same questions.

``python -m tests.serve_app.batch.compare_rates spider/train.json --sample 2000 --rounds 2``. The
model answers at once with the gold query, or is the default one with ``--model``. Times include the
start of Ray, of the workers and of the model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from data.benchmarks.load import load_benchmark
from data.benchmarks.types import Example
from evaluation.runs.run_folder import read_run
from evaluation.runs.variants import build_variant
from generation.engines import OpenEngine
from nl2sql.settings import parse_settings
from nl2sql.types import Completions, SamplingRequest
from serve_app.batch.engines import build_configured
from serve_app.batch.figures import build_report
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.running import Sizes, run_job
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import ReadyBenchmark, prepare_benchmark, select
from serve_app.operations.measuring import MeasureOptions, draw_sample, measure
from serve_app.reporting import Silence
from tests.serve_app.batch.engines import EchoBatchEngine
from tests.serve_app.batch.jobs import build_job

_ROWS = 1000


class GoldEngine(EchoBatchEngine):
    """Answers a question with its gold query."""

    def __init__(self, golds: Mapping[str, str]) -> None:
        super().__init__()
        self._golds = golds

    async def sample(self, request: SamplingRequest) -> Completions:
        """The gold query, ``k`` times."""
        echoed = await super().sample(request)
        gold = self._golds.get(echoed.texts[0].strip(), "SELECT 1")
        return Completions((gold,) * request.k, prompt_tokens=1, completion_tokens=1)


class BuildGold:
    """Builds the engine inside the actor of a job."""

    def __init__(self, golds: Mapping[str, str]) -> None:
        self._golds = golds

    def __call__(self, wiring: Wiring) -> OpenEngine:
        return cast(OpenEngine, GoldEngine(self._golds))


def main() -> None:
    """Prints a line for each run, in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--home", default="~/.cache/quorumsql", help="of the databases' index")
    parser.add_argument("--model", action="store_true", help="ask the default model")
    arguments = parser.parse_args()
    embedded = {"url": "embedded"}
    settings = parse_settings(
        {
            "home": str(Path(arguments.home).expanduser()),
            "databases": {"demo_erp": {"demo": True, "reader": embedded, "indexer": embedded}},
            "limits": {"max_rows": _ROWS},
        }
    )
    benchmark = load_benchmark(arguments.benchmark, configured=settings.databases)
    examples = draw_sample(benchmark, arguments.sample, 0)
    chosen = select(benchmark, [example.id for example in examples])
    ready = asyncio.run(prepare_benchmark(settings, chosen, Silence()))
    golds = {example.question.strip(): example.golds[0] for example in examples}
    build = None if arguments.model else BuildGold(golds)
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as folder:
            time_evaluation(ready, build, Path(folder))
            time_job(ready, examples, build, Path(folder) / "job", arguments.workers)


def time_evaluation(ready: ReadyBenchmark, build: BuildGold | None, folder: Path) -> None:
    """Times the evaluation."""
    settings = ready.wiring.settings
    variant = build_variant(settings, settings.sampling.k, "")
    options = MeasureOptions(folder / "runs", "gold", time_queries=False)
    start = time.perf_counter()
    engine = build(ready.wiring) if build else None
    (run,) = asyncio.run(measure(ready, [variant], options, Silence(), engine=engine))
    seconds = time.perf_counter() - start
    records = read_run(run)[1]
    print_rate("evaluation", len(records), sum(record.correct for record in records), seconds)


def time_job(
    ready: ReadyBenchmark,
    examples: Sequence[Example],
    build: BuildGold | None,
    folder: Path,
    workers: int,
) -> None:
    """Times a job on a Ray that is started for it."""
    questions = [
        BatchQuestion(example.id, example.question, example.database, gold=example.golds[0])
        for example in examples
    ]
    start = time.perf_counter()
    job = build_job(folder, *questions, max_rows=_ROWS)
    sizes = Sizes(workers=(workers, workers))
    run_job(job, ready.wiring, sizes, build_engine=build or build_configured)
    seconds = time.perf_counter() - start
    report = build_report(job)
    right = round((report.accuracy or 0.0) * report.counted)
    print_rate("job", report.done, right, seconds)


def print_rate(name: str, count: int, right: int, seconds: float) -> None:
    """Prints what was answered and how fast."""
    print(
        f"{name}: {count:,} questions, {right:,} right, {seconds:.1f} s, "
        f"{count / seconds:.1f} a second",
        flush=True,
    )


if __name__ == "__main__":
    main()
