"""Runs the variants of retrieval over a benchmark, side by side in one run folder.

Connects ``evaluation.retrieval`` with the parts that this folder builds. Loads no language model.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.benchmarks.types import Benchmark
from evaluation.report import render_markdown
from evaluation.retrieval.measures import RetrievalFigures, summarize
from evaluation.retrieval.records import RetrievalManifest, RetrievalRecord
from evaluation.retrieval.report import render_section
from evaluation.retrieval.runner import MeasuredExamples, RememberedEmbedder, run_retrieval
from evaluation.retrieval.search import SearchSystem
from evaluation.runs.run_folder import read_records
from nl2sql.settings import Settings
from serve_app.composition.local import LocalParts, open_parts
from serve_app.operations.benchmarks import ReadyBenchmark
from serve_app.operations.measuring import NoEngine, RunOptions, name_run
from serve_app.reporting import Reporter

_NO_MODEL = NoEngine(
    "Retrieval is measured without a language model.",
    hint="Keep retrieval.linking at deterministic.",
)


@dataclass(frozen=True, slots=True)
class RetrievalOptions(RunOptions):
    """How retrieval is measured."""

    split: str = ""
    one_database: bool = False


def build_manifest(
    benchmark: Benchmark, variants: Mapping[str, Settings], options: RetrievalOptions
) -> RetrievalManifest:
    """All that the figures of this run depend on."""
    return RetrievalManifest(
        **options.describe(benchmark),
        variants=tuple(variants),
        configurations={
            name: settings.model_dump(mode="json", include={"retrieval", "flags"})
            for name, settings in variants.items()
        },
        embedder=next(iter(variants.values())).index.embedder,
        split=options.split,
        one_database=options.one_database,
    )


async def measure_retrieval(
    ready: ReadyBenchmark,
    variants: Mapping[str, Settings],
    options: RetrievalOptions,
    reporter: Reporter,
) -> Path:
    """Runs all questions on all variants and returns the run's folder with report and figures.

    The settings of ``variants`` must know the benchmark's databases. Raises SettingsError,
    Unavailable.
    """
    benchmark = ready.benchmark
    manifest = build_manifest(benchmark, variants, options)
    run = options.open_run(manifest, name_run(manifest, kind="retrieval", detail=options.split))
    if not run.is_complete():
        asking = MeasuredExamples(
            benchmark.examples,
            benchmark.missing,
            ready.wiring.settings.identity.principal(),
            options.evidence,
        )
        async with open_parts(ready.wiring, reporter, engine=_NO_MODEL) as opened:
            embedder = RememberedEmbedder(opened.embedder)
            embedder.load()
            parts = dataclasses.replace(opened, embedder=embedder)
            systems = {name: _build_system(parts, settings) for name, settings in variants.items()}
            with run.open(), reporter.step(f"{benchmark.name} retrieval") as step:
                await run_retrieval(
                    asking, systems, parts.catalogs, embedder, run, progress=step.update
                )
    write_report(run.folder)
    return run.folder


def write_report(folder: Path) -> RetrievalFigures:
    """Writes ``report.md`` and ``figures.json`` into a run's folder. Raises SettingsError."""
    manifest, figures = read_figures(folder)
    lines = list(render_section(manifest, figures))
    (folder / "report.md").write_text(render_markdown([], [], [lines]), encoding="utf-8")
    values = json.dumps(dataclasses.asdict(figures), indent=1, ensure_ascii=False)
    (folder / "figures.json").write_text(values, encoding="utf-8")
    return figures


def read_figures(folder: Path) -> tuple[RetrievalManifest, RetrievalFigures]:
    """A retrieval run's manifest and figures. Raises SettingsError if there are none."""
    manifest, records = read_records(folder, RetrievalManifest, RetrievalRecord)
    return manifest, summarize(manifest, records)


def _build_system(parts: LocalParts, settings: Settings) -> SearchSystem:
    return SearchSystem(parts.build_retriever(settings), parts.build_planner(settings))
