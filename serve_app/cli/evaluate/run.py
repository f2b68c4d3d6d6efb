"""``eval run``: runs a benchmark and writes run folders."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from data.benchmarks.load import load_benchmark
from generation.engines.choice import has_gpu
from serve_app.cli.context import CliContext, split_list
from serve_app.cli.evaluate import options as opt
from serve_app.cli.evaluate.report import describe_run, load_run, print_runs
from serve_app.cli.output import Output, prints, say
from serve_app.cli.service_or_process import read_count
from serve_app.cli.terminal import TerminalReporter
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import prepare_benchmark
from serve_app.operations.measuring import MeasureOptions, measure
from serve_app.operations.variants import build_variants, override


@prints
def run(
    context: typer.Context,
    benchmark: opt.BenchmarkName = "demo_erp",
    k: Annotated[
        str,
        typer.Option(
            help="Number of candidates, or adaptive; several, with commas, make one run each. "
            "Default: sampling.k."
        ),
    ] = "",
    baseline: Annotated[
        str,
        typer.Option(
            help="plain: the whole schema as DDL and one greedy query; instead of the pipeline, "
            "or in addition to it if --k is given."
        ),
    ] = "",
    set_: opt.Overrides = None,
    half: opt.Half = "",
    sample: opt.Sample = 0,
    seed: opt.Seed = 0,
    evidence: opt.Evidence = False,
    concurrency: Annotated[int, typer.Option(help="Questions in flight.", min=1, max=1024)] = 16,
    samples: Annotated[
        Path | None,
        typer.Option(
            help="File that stores the model's samples: runs that share it use the same "
            "candidates, or fewer, without the model, to compare the stages after sampling."
        ),
    ] = None,
    output: opt.Output = opt.DEFAULT_OUTPUT,
    fresh: opt.Fresh = False,
) -> Output:
    """Run a benchmark. The same command again continues where it stopped.

    Several K make one run each; the model is loaded once.
    """
    cli: CliContext = context.obj
    settings = override(cli.settings, set_ or ())
    # So that the manifest names the model.
    settings = Wiring(settings).resolve_model(on_gpu=has_gpu()).settings
    variants = build_variants(
        settings,
        [count for part in split_list(k) if (count := read_count(part))],
        baseline,
    )
    options = MeasureOptions(
        output=output,
        benchmark_path=benchmark,
        sample=sample,
        seed=seed,
        evidence=evidence,
        fresh=fresh,
        concurrency=concurrency,
        samples=samples,
    )
    chosen = opt.choose_questions(
        load_benchmark(benchmark, configured=settings.databases),
        half=half,
        sample=sample,
        seed=seed,
        evidence=evidence,
    )

    async def measure_all() -> list[Path]:
        reporter = TerminalReporter()
        ready = await prepare_benchmark(settings, chosen, reporter)
        return await measure(ready, variants, options, reporter)

    folders = asyncio.run(measure_all())

    def tell() -> None:
        print_runs([load_run(folder) for folder in folders])
        say(f"Report: quorumsql eval report {' '.join(map(str, folders))} --output report.md")

    return Output([describe_run(folder) for folder in folders], tell)
