"""``eval retrieval``: measures how many tables and columns of gold queries retrieval finds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from data.benchmarks.load import load_benchmark
from evaluation.retrieval.measures import RetrievalFigures
from evaluation.retrieval.report import build_tables, render_report
from serve_app.cli.context import CliContext, split_list
from serve_app.cli.evaluate import options as opt
from serve_app.cli.evaluate.report import print_tables
from serve_app.cli.output import Output, prints, say
from serve_app.cli.terminal import TerminalReporter
from serve_app.operations.benchmarks import prepare_benchmark
from serve_app.operations.measuring_retrieval import VARIANTS, choose_variants, measure_retrieval
from serve_app.operations.variants import override


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
    evidence: opt.Evidence = False,
    output: Annotated[
        Path | None, typer.Option(help="A file to write, as Markdown, with the tables missed most.")
    ] = None,
) -> Output:
    """Measure routing, retrieval, linking and pruning alone. No language model is loaded."""
    cli: CliContext = context.obj
    settings = override(cli.settings, set_ or ())
    names = split_list(variants)
    choose_variants(settings, names)  # reports a wrong name before anything is restored
    loaded = load_benchmark(benchmark, configured=settings.by_name)
    chosen = opt.choose_questions(loaded, sample=sample, seed=seed, evidence=evidence)

    async def run() -> RetrievalFigures:
        reporter = TerminalReporter()
        ready = await prepare_benchmark(settings, chosen, reporter)
        under_test = choose_variants(ready.wiring.settings, names)
        return await measure_retrieval(ready, under_test, reporter, evidence=evidence)

    figures = asyncio.run(run())
    if output is not None:
        title = f"Retrieval: {loaded.name}, {len(chosen.examples):,} questions"
        output.write_text(render_report(title, figures), encoding="utf-8")
    return Output({"file": output, "figures": figures}, lambda: _print(figures))


def _print(figures: RetrievalFigures) -> None:
    print_tables(build_tables(figures))
    for variant in figures.variants:
        for name, reason in variant.errors:
            say(f"error {variant.variant} {name}: {reason}")
    for name, reason in figures.not_counted:
        say(f"not counted {name}: {reason}")
