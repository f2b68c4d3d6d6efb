"""Counts the prompts that differ when a part of the pipeline is switched off.

``python -m tests.benchmarks.ablation BENCHMARK [FLAG=VALUE ...]``: the whole pipeline with a model
that answers at once, first with the settings, then with each enabled flag switched off, then with
each assignment. A part that changes no prompt of a benchmark cannot change the samples, so its
effect is known without running a model.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from data.benchmarks.load import load_benchmark
from evaluation.runs.run_folder import read_run
from evaluation.runs.variants import Variant, build_ablation, override
from nl2sql.settings import load_settings
from nl2sql.types import Completions, SamplingRequest
from serve_app.operations.benchmarks import prepare_benchmark
from serve_app.operations.measuring import MeasureOptions, measure
from serve_app.reporting import Silence
from tests.fakes import StubEngine


class SilentModel(StubEngine):
    """Answers every question alike; only the prompts matter here."""

    async def sample(self, request: SamplingRequest) -> Completions:
        """``SELECT 1``, K times."""
        return Completions(("SELECT 1",) * request.k, prompt_tokens=1, completion_tokens=1)


async def main(name: str, assignments: list[str]) -> None:
    """Prints, part by part, how many prompts differ and their mean length in characters."""
    settings = load_settings(Path("quorumsql.yaml"))
    benchmark = load_benchmark(name, configured=settings.databases)
    ready = await prepare_benchmark(settings, benchmark, Silence())
    own = ready.wiring.settings
    variants = (
        *build_ablation(own, 1),
        *(Variant(assignment, override(own, [assignment]), 1) for assignment in assignments),
    )
    with tempfile.TemporaryDirectory() as folder:
        options = MeasureOptions(Path(folder), name, time_queries=False)
        runs = await measure(ready, variants, options, Silence(), engine=SilentModel())
        prompts = [
            {each.id: str(each.trace.get("prompt")) for each in read_run(run)[1]} for run in runs
        ]
    for variant, shown in zip(variants, prompts, strict=True):
        differ = sum(shown[question] != text for question, text in prompts[0].items())
        length = sum(map(len, shown.values())) / len(shown)
        print(f"{variant.name:32} {differ:4} of {len(shown)} prompts differ, {length:7,.0f} chars")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
