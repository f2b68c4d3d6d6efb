"""``eval run``, ``eval curve``, ``eval ablate``: questions in, run folders out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from data.benchmarks.load import load_benchmark
from data.benchmarks.types import Benchmark
from evaluation.runs.variants import (
    Variant,
    build_ablation,
    build_curve,
    build_variant,
    override,
    parse_count,
)
from nl2sql.errors import SettingsError, Unavailable
from nl2sql.settings import Settings
from serve_app.cli.context import CliContext
from serve_app.cli.evaluate import options as opt
from serve_app.cli.evaluate.show import print_runs
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.operations.background import is_ready
from serve_app.operations.benchmarks import prepare_benchmark, select
from serve_app.operations.measuring import MeasureOptions, check_service, draw_sample, measure


def run(
    context: typer.Context,
    benchmark: opt.BenchmarkName = "demo_erp",
    k: Annotated[str, typer.Option(help="Candidates, or adaptive; default: sampling.k.")] = "",
    baseline: Annotated[
        str, typer.Option(help="plain: the whole schema as DDL and one greedy query.")
    ] = "",
    set_: opt.Overrides = None,
    sample: opt.Sample = 0,
    seed: opt.Seed = 0,
    evidence: opt.Evidence = False,
    concurrency: opt.Concurrency = 16,
    samples: opt.Samples = None,
    service: opt.Service = "",
    output: opt.Output = opt.DEFAULT_OUTPUT,
    time_queries: opt.Times = True,
    fresh: opt.Fresh = False,
) -> None:
    """Run a benchmark once. The same command again goes on where it was stopped."""
    settings = override(_settings(context), set_ or ())
    variants = (build_variant(settings, parse_count(k) if k else None, baseline),)
    _measure(
        settings,
        variants,
        benchmark,
        MeasureOptions(
            output,
            benchmark,
            sample,
            seed,
            evidence,
            concurrency,
            service,
            time_queries,
            fresh,
            samples,
        ),
    )


def curve(
    context: typer.Context,
    benchmark: opt.BenchmarkName = "demo_erp",
    k: Annotated[
        str, typer.Option(help="Numbers of candidates, or adaptive, with commas.")
    ] = "1,2,4,8,16",
    baseline: Annotated[str, typer.Option(help="plain: run the baseline too.")] = "",
    set_: opt.Overrides = None,
    sample: opt.Sample = 0,
    seed: opt.Seed = 0,
    evidence: opt.Evidence = False,
    concurrency: opt.Concurrency = 16,
    samples: opt.Samples = None,
    service: opt.Service = "",
    output: opt.Output = opt.DEFAULT_OUTPUT,
    time_queries: opt.Times = True,
    fresh: opt.Fresh = False,
) -> None:
    """Run a benchmark once for each K, with one model loaded."""
    settings = override(_settings(context), set_ or ())
    variants = build_curve(settings, [parse_count(part) for part in k.split(",")], baseline)
    _measure(
        settings,
        variants,
        benchmark,
        MeasureOptions(
            output,
            benchmark,
            sample,
            seed,
            evidence,
            concurrency,
            service,
            time_queries,
            fresh,
            samples,
        ),
    )


def ablate(
    context: typer.Context,
    benchmark: opt.BenchmarkName = "demo_erp",
    k: Annotated[str, typer.Option(help="Candidates, or adaptive; default: sampling.k.")] = "",
    only: Annotated[str, typer.Option(help="The flags to take, with commas.")] = "",
    set_: opt.Overrides = None,
    sample: opt.Sample = 0,
    seed: opt.Seed = 0,
    evidence: opt.Evidence = False,
    concurrency: opt.Concurrency = 16,
    samples: opt.Samples = None,
    output: opt.Output = opt.DEFAULT_OUTPUT,
    time_queries: opt.Times = True,
    fresh: opt.Fresh = False,
) -> None:
    """Run a benchmark with every stage on, then with each switched off in turn."""
    settings = override(_settings(context), set_ or ())
    chosen = [name.strip() for name in only.split(",") if name.strip()]
    _measure(
        settings,
        build_ablation(settings, parse_count(k) if k else None, chosen),
        benchmark,
        MeasureOptions(
            output,
            benchmark,
            sample,
            seed,
            evidence,
            concurrency,
            "",
            time_queries,
            fresh,
            samples,
        ),
    )


def _settings(context: typer.Context) -> Settings:
    cli: CliContext = context.obj
    return cli.settings


def _measure(
    settings: Settings, variants: Sequence[Variant], name: str, options: MeasureOptions
) -> None:
    benchmark = load_benchmark(name, configured=settings.databases)
    if options.evidence and not any(example.evidence for example in benchmark.examples):
        raise SettingsError(f"{benchmark.name} has no evidence.", hint="Leave --evidence out.")
    # Only the databases that the sample asks of are made ready.
    chosen = select(
        benchmark,
        [each.id for each in draw_sample(benchmark, options.sample, options.seed)],
    )
    if options.service and options.samples:
        raise SettingsError(
            "A service samples by itself: nothing can be kept of it.",
            hint="Leave --samples out, or --service.",
        )
    if options.service:
        check_service(options.service, settings, chosen, variants)
        if not is_ready(options.service):
            raise Unavailable(
                f"No service is ready at {options.service}.", hint="Start one: `make serve`."
            )
    folders = asyncio.run(_run(settings, variants, chosen, options))
    print_runs(folders)
    CONSOLE.print(
        f"Report: quorumsql eval report {' '.join(map(str, folders))}",
        highlight=False,
        soft_wrap=True,
    )


async def _run(
    settings: Settings,
    variants: Sequence[Variant],
    benchmark: Benchmark,
    options: MeasureOptions,
) -> list[Path]:
    reporter = TerminalReporter()
    ready = await prepare_benchmark(settings, benchmark, reporter)
    for database, reason in ready.benchmark.missing.items():
        CONSOLE.print(f"[yellow]missing[/] {database}: {escape(reason)}", highlight=False)
    return await measure(ready, variants, options, reporter)
