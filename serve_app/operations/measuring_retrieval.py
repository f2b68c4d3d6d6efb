"""Runs the variants of retrieval over a benchmark. Loads no language model.

Connects ``evaluation.retrieval`` with the parts that this folder builds.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.retrieval.measures import RetrievalFigures, summarize
from evaluation.retrieval.runner import run_retrieval
from evaluation.retrieval.search import SearchSystem
from nl2sql.errors import SettingsError
from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.local import open_parts
from serve_app.operations.benchmarks import ReadyBenchmark
from serve_app.reporting import Reporter
from serve_app.settings import Settings


class NoEngine:
    """In place of a model, which must not be called."""

    async def sample(self, request: SamplingRequest) -> Completions:
        """Raises SettingsError."""
        raise SettingsError("Retrieval is measured without a language model.")

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """None: no prompt is written."""
        return (0,) * len(texts)


async def measure_retrieval(
    ready: ReadyBenchmark,
    variants: Mapping[str, Settings],
    reporter: Reporter,
    *,
    evidence: bool = False,
) -> RetrievalFigures:
    """The figures of all questions on all variants.

    The settings of ``variants`` must know the benchmark's databases. Raises SettingsError,
    Unavailable.
    """
    async with open_parts(ready.wiring, reporter, engine=NoEngine()) as parts:
        systems = {
            name: SearchSystem(stages.retriever, stages.planner)
            for name, settings in variants.items()
            if (stages := parts.build_stages(settings))
        }
        with reporter.step(f"{ready.benchmark.name} retrieval") as step:
            records = await run_retrieval(
                ready.benchmark,
                systems,
                parts.store,
                ready.wiring.settings.identity.principal(),
                evidence=evidence,
                progress=step.update,
                source_of=ready.wiring.settings.source_of,
            )
    return summarize(records)
