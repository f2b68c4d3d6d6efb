"""``eval retrieval``: measures how many tables and columns of gold queries retrieval finds."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from data.benchmarks.load import load_benchmark
from data.benchmarks.types import Benchmark
from evaluation.retrieval.measures import RetrievalFigures
from evaluation.retrieval.report import build_tables
from evaluation.retrieval.variants import VARIANTS, choose_variants
from evaluation.runs.variants import override
from nl2sql.errors import SettingsError
from serve_app.cli.context import CliContext
from serve_app.cli.evaluate import options as opt
from serve_app.cli.evaluate.report import print_tables
from serve_app.cli.output import Output, prints, say
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.operations.benchmarks import prepare_benchmark, select
from serve_app.operations.measuring import draw_sample
from serve_app.operations.measuring_retrieval import (
    RetrievalOptions,
    measure_retrieval,
    read_figures,
)


@prints
def retrieval(
    context: typer.Context,
    benchmark: opt.BenchmarkName = "demo_erp",
    variants: Annotated[
        str, typer.Option(help=f"Some of {', '.join(VARIANTS)}, with commas; default: all.")
    ] = "",
    set_: opt.Overrides = None,
    sample: opt.Sample = 0,
    seed: opt.Seed = 0,
    split: Annotated[str, typer.Option(help="Only this split of the benchmark, such as dev.")] = "",
    one_database: Annotated[
        bool,
        typer.Option(
            "--one-database",
            help="Read a dump whose questions name schemas as one database, without the schema "
            "of a question.",
        ),
    ] = False,
    evidence: opt.Evidence = False,
    output: opt.Output = opt.DEFAULT_OUTPUT,
    fresh: opt.Fresh = False,
) -> Output:
    """Measure routing, retrieval, linking and pruning alone. No language model is loaded."""
    cli: CliContext = context.obj
    settings = override(cli.settings, set_ or ())
    names = [name.strip() for name in variants.split(",") if name.strip()]
    choose_variants(settings, names)  # reports a wrong name before anything is restored
    loaded = _choose(
        load_benchmark(benchmark, configured=settings.databases, one_database=one_database),
        split,
    )
    if evidence and not any(example.evidence for example in loaded.examples):
        raise SettingsError(f"{loaded.name} has no evidence.", hint="Omit --evidence.")
    drawn = draw_sample(loaded, sample, seed)
    chosen = select(loaded, [example.id for example in drawn])
    options = RetrievalOptions(
        output=output,
        benchmark_path=benchmark,
        sample=sample,
        seed=seed,
        split=split,
        one_database=one_database,
        evidence=evidence,
        fresh=fresh,
    )

    async def run() -> Path:
        reporter = TerminalReporter()
        ready = await prepare_benchmark(settings, chosen, reporter)
        for database, reason in ready.benchmark.missing.items():
            CONSOLE.print(f"[yellow]missing[/] {escape(f'{database}: {reason}')}", highlight=False)
        under_test = choose_variants(ready.wiring.settings, names)
        return await measure_retrieval(ready, under_test, options, reporter)

    folder = asyncio.run(run())
    _, figures = read_figures(folder)
    return Output({"folder": folder, "figures": figures}, lambda: _print(folder, figures))


def _choose(benchmark: Benchmark, split: str) -> Benchmark:
    """The benchmark with one split only. Raises SettingsError if it has no examples."""
    if not split:
        return benchmark
    examples = tuple(example for example in benchmark.examples if example.split == split)
    if not examples:
        known = ", ".join(
            sorted({example.split for example in benchmark.examples if example.split})
        )
        raise SettingsError(
            f"{benchmark.name} has no questions of the split {split!r}.",
            hint=f"It has: {known}." if known else "Its questions name no split.",
        )
    return dataclasses.replace(benchmark, examples=examples)


def _print(folder: Path, figures: RetrievalFigures) -> None:
    print_tables(build_tables(figures))
    for variant in figures.variants:
        for name, reason in variant.errors:
            say(f"error {variant.variant} {name}: {reason}")
    for name, reason in figures.not_counted:
        say(f"not counted {name}: {reason}")
    say(f"Report: {folder / 'report.md'}")
