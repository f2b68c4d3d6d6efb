"""Runs the variants of retrieval over a benchmark, side by side in one run folder.

Connects ``evaluation.retrieval`` with the parts that this folder builds. Loads no language model.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from data.benchmarks.types import Benchmark
from evaluation.report import render_markdown
from evaluation.retrieval.measures import RetrievalFigures, summarize
from evaluation.retrieval.records import RetrievalManifest, RetrievalRecord
from evaluation.retrieval.report import render_section
from evaluation.retrieval.runner import MeasuredExamples, RememberedEmbedder, run_retrieval
from evaluation.retrieval.search import SearchSystem
from evaluation.runs.environment import collect_versions, describe_machine, find_revision
from evaluation.runs.run_folder import RunFolder, read_records
from nl2sql.errors import SettingsError
from nl2sql.settings import Settings
from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.local import LocalParts, open_parts
from serve_app.operations.benchmarks import ReadyBenchmark
from serve_app.operations.measuring import make_run_name
from serve_app.reporting import Reporter


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How retrieval is measured; ``sample`` questions were drawn with ``seed`` (0: all)."""

    output: Path
    benchmark_path: str
    sample: int = 0
    seed: int = 0
    split: str = ""
    one_database: bool = False
    evidence: bool = False
    fresh: bool = False


def build_manifest(
    benchmark: Benchmark, variants: Mapping[str, Settings], options: RetrievalOptions
) -> RetrievalManifest:
    """All that the figures of this run depend on."""
    sections = {"retrieval", "flags"}
    return RetrievalManifest(
        benchmark=benchmark.name,
        benchmark_path=options.benchmark_path,
        benchmark_sha256=benchmark.sha256,
        dialect=benchmark.dialect,
        sample=options.sample,
        sample_seed=options.seed if options.sample else 0,
        evidence=options.evidence,
        question_ids=tuple(example.id for example in benchmark.examples),
        versions=collect_versions(),
        machine=describe_machine(),
        revision=find_revision(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        variants=tuple(variants),
        configurations={
            name: settings.model_dump(mode="json", include=sections)
            for name, settings in variants.items()
        },
        embedder=next(iter(variants.values())).index.embedder,
        split=options.split,
        one_database=options.one_database,
    )


def name_run(manifest: RetrievalManifest) -> str:
    """A readable folder name, made unique by a hash over the identity of the run."""
    return make_run_name(
        manifest,
        (
            "retrieval",
            manifest.benchmark,
            manifest.split,
            f"{manifest.sample}s{manifest.sample_seed}" if manifest.sample else "",
            "evidence" if manifest.evidence else "",
        ),
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
    run = RunFolder(options.output / name_run(manifest), manifest)
    if options.fresh:
        run.set_aside()
    if not run.is_complete():
        asking = MeasuredExamples(
            benchmark.examples,
            benchmark.missing,
            ready.wiring.settings.identity.principal(),
            options.evidence,
        )
        async with open_parts(ready.wiring, reporter, engine=_NoModel()) as opened:
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


class _NoModel:
    """A placeholder for the model, which is not used when only retrieval is measured."""

    async def sample(self, request: SamplingRequest) -> Completions:
        raise SettingsError(
            "Retrieval is measured without a language model.",
            hint="Keep retrieval.linking at deterministic.",
        )

    async def speed(self) -> None:
        """Unknown."""

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        raise SettingsError("Retrieval is measured without a language model.")
