"""Runs variants over a benchmark, in this process.

Connects ``evaluation`` (records, folders, figures) with the parts that this folder builds. Each
variant has a run folder under ``output``, whose name ends in a hash over all that the figures
depend on. The same command therefore continues its own run and no other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data.benchmarks.types import Benchmark
from evaluation.metrics.judge import Judge, SystemResponse
from evaluation.runs.baseline import PlainBaseline
from evaluation.runs.environment import collect_versions, describe_machine, find_revision
from evaluation.runs.kept_samples import KeptSamples
from evaluation.runs.manifest import RunManifest
from evaluation.runs.run_folder import RunFolder
from evaluation.runs.runner import Ask, run_questions
from nl2sql.protocols import Answerer, Engine
from nl2sql.types import Question
from serve_app.composition.local import LocalParts, open_engine, open_parts
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import ReadyBenchmark
from serve_app.operations.variants import Variant, override
from serve_app.reporting import Reporter
from serve_app.service.rendering import build_response

_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """How a benchmark is run.

    ``sample`` questions were drawn with ``seed`` (0: all); the model uses ``seed`` too. ``samples``
    is the file that stores the model's samples. ``fresh`` starts over, ``repeat`` only if the run
    is complete: data, index and definitions may have changed since.
    """

    output: Path
    benchmark_path: str
    sample: int = 0
    seed: int = 0
    evidence: bool = False
    fresh: bool = False
    repeat: bool = False
    concurrency: int = 16
    samples: Path | None = None


def build_manifest(benchmark: Benchmark, variant: Variant, options: MeasureOptions) -> RunManifest:
    """All that the figures of this run depend on."""
    return RunManifest(
        benchmark=benchmark.name,
        benchmark_path=options.benchmark_path,
        benchmark_sha256=benchmark.sha256,
        dialect=benchmark.dialect,
        variant=variant.name,
        baseline=variant.baseline,
        k=variant.k,
        seed=options.seed,
        sample=options.sample,
        sample_seed=options.seed if options.sample else 0,
        evidence=options.evidence,
        concurrency=options.concurrency,
        samples=str(options.samples or ""),
        question_ids=tuple(example.id for example in benchmark.examples),
        configuration=variant.settings.model_dump(mode="json"),
        versions=collect_versions(),
        machine=describe_machine(),
        revision=find_revision(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def name_run(manifest: RunManifest) -> str:
    """A readable folder name, made unique by a hash over the identity of the run."""
    identity = json.dumps(manifest.identity(), sort_keys=True)
    parts = (
        manifest.benchmark,
        f"{manifest.sample}s{manifest.sample_seed}" if manifest.sample else "",
        "evidence" if manifest.evidence else "",
        manifest.variant.replace("=", ""),
        hashlib.sha256(identity.encode()).hexdigest()[:8],
    )
    return "-".join(_NOT_IN_NAME.sub("-", part.lower()).strip("-") for part in parts if part)


async def measure(
    ready: ReadyBenchmark,
    variants: Sequence[Variant],
    options: MeasureOptions,
    reporter: Reporter,
    *,
    engine: Engine | None = None,
) -> list[Path]:
    """Runs the variants over all examples, one after the other, and returns their folders.

    The sample is already drawn; ``options.sample`` is only recorded. The model is loaded once.

    ``engine`` replaces the configured model. Raises SettingsError, and Unavailable if the model
    stops answering: the next call continues.
    """
    benchmark = ready.benchmark
    examples = benchmark.examples
    runs = [_open_run(benchmark, variant, options) for variant in variants]
    # Complete runs need no model.
    if all(run.is_complete() for run in runs):
        return [run.folder for run in runs]
    async with (
        _keep_samples(ready.wiring, options, reporter, engine) as engine,
        open_parts(ready.wiring, reporter, engine=engine) as parts,
    ):
        principal = ready.wiring.settings.identity.principal()
        guard = ready.wiring.build_guard(parts.store)
        judge = Judge(guard, parts.executor, benchmark.missing, principal)
        for variant, run in zip(variants, runs, strict=True):
            with run.open(), reporter.step(f"{benchmark.name} {variant.name}") as step:

                def progress(done: int, total: int, correct: int, step: Any = step) -> None:
                    step.update(done, total)
                    step.finish(f"{correct} of {done} correct")

                await run_questions(
                    examples,
                    _build_system(parts, variant),
                    judge,
                    run,
                    max_rows=variant.settings.limits.max_rows,
                    progress=progress,
                )
    return [run.folder for run in runs]


@asynccontextmanager
async def _keep_samples(
    wiring: Wiring, options: MeasureOptions, reporter: Reporter, engine: Engine | None
) -> AsyncIterator[Engine | None]:
    """The engine behind the file of samples; the engine itself if no file is named."""
    if options.samples is None:
        yield engine
        return
    async with AsyncExitStack() as stack:

        async def find_engine() -> Engine:
            if engine is not None:
                return engine
            return await stack.enter_async_context(open_engine(wiring, reporter))

        with KeptSamples(options.samples, wiring.models.name_samples(), find_engine).open() as kept:
            yield kept


def _open_run(benchmark: Benchmark, variant: Variant, options: MeasureOptions) -> RunFolder:
    """The run's folder; one of before that starts over is renamed."""
    manifest = build_manifest(benchmark, variant, options)
    run = RunFolder(options.output / name_run(manifest), manifest)
    if options.fresh or (options.repeat and run.is_complete()):
        run.set_aside()
    return run


def _build_system(parts: LocalParts, variant: Variant) -> Ask:
    # The prompt of a measured question must not contain its own answer, and figures must not depend
    # on the speed of the machine.
    changes = ("retrieval.same_question=false", "limits.sampling_timeout_ms=0")
    settings = override(variant.settings, changes)
    pipeline: Answerer = parts.build_pipeline(settings)
    if variant.baseline:
        guard, sends = parts.wiring.build_guard(parts.store), settings.model.sends
        pipeline = PlainBaseline(
            parts.engine, parts.store, guard, parts.executor, settings.sampling, sends
        )

    async def ask(question: Question) -> SystemResponse:
        answer = await pipeline.answer(question)
        ranking = answer.trace.ranking
        return SystemResponse(
            build_response(answer, trace=True),
            {
                assessment.candidate.id: assessment.result
                for assessment in (ranking.assessments if ranking else ())
                if assessment.result is not None
            },
        )

    return ask
