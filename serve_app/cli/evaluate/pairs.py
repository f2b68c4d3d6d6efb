"""``eval export-pairs``: writes prompts with the right queries, to train a model on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from data.benchmarks.load import load_benchmark
from data.benchmarks.overlaps import leave_out
from serve_app.cli.context import CliContext
from serve_app.cli.evaluate import options as opt
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import TerminalReporter
from serve_app.operations import training_pairs


@prints
def export_pairs(
    context: typer.Context,
    benchmark: opt.BenchmarkName,
    output: Annotated[Path, typer.Option(help="The file to write.")] = Path("pairs.jsonl"),
    apart_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BENCHMARK",
            help="Leave out the databases of this benchmark and questions like its own; repeat.",
        ),
    ] = None,
    half: opt.Half = "",
    sample: opt.Sample = 0,
    seed: opt.Seed = 0,
) -> Output:
    """Write prompts with the right queries in JSON lines, to train an adapter on."""
    cli: CliContext = context.obj
    configured = cli.settings.by_name
    loaded = load_benchmark(benchmark, configured=configured)
    loaded = opt.choose_questions(loaded, half=half)
    measured = [load_benchmark(path, configured=configured) for path in apart_from or ()]
    apart = leave_out(loaded, measured, cli.settings.source_of)
    chosen = opt.choose_questions(apart, sample=sample, seed=seed)
    pairs = asyncio.run(
        training_pairs.export_pairs(cli.settings, chosen, output, TerminalReporter())
    )
    document = {
        "file": output,
        "pairs": pairs,
        "questions": len(chosen.examples),
        "left_out": len(loaded.examples) - len(apart.examples),
    }
    told = (
        f"{output}: {pairs} pairs of {document['questions']} questions; "
        f"{document['left_out']} left out because they are measured."
    )
    return Output(document, told)
