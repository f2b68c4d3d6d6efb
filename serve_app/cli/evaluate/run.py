"""``eval run``: runs a benchmark and writes run folders."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from data.benchmarks.load import load_benchmark
from evaluation.metrics.verdicts import find_verdict
from evaluation.report import Run
from evaluation.report.tables import show_difference
from evaluation.runs.exam import Kept, compare_kept, keep_results, read_kept, write_kept
from generation.engines.choice import has_gpu
from serve_app.cli.context import CliContext, split_list
from serve_app.cli.evaluate import options as opt
from serve_app.cli.evaluate.report import describe_run, load_run, print_runs
from serve_app.cli.output import Output, print_table, prints, say
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
    gate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with the results kept in this file, and end with status 1 if they are "
            "worse. A complete run is asked again.",
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the results to the file of --gate instead.")
    ] = False,
) -> Output:
    """Run a benchmark. The same command again continues where it stopped.

    Several K make one run each; the model is loaded once.
    """
    cli: CliContext = context.obj
    settings = override(cli.settings, set_ or ())
    # So that the manifest names the model.
    settings = Wiring(settings).resolve_model(on_gpu=has_gpu()).settings
    variants = build_variants(
        settings, [count for part in split_list(k) if (count := read_count(part))], baseline
    )
    if (gate is None and update) or (gate is not None and len(variants) != 1):
        raise typer.BadParameter("--gate judges one run, and --update belongs to --gate.")
    options = MeasureOptions(
        output=output,
        benchmark_path=benchmark,
        sample=sample,
        seed=seed,
        evidence=evidence,
        fresh=fresh,
        repeat=gate is not None,
        concurrency=concurrency,
        samples=samples,
    )
    chosen = opt.choose_questions(
        load_benchmark(benchmark, configured=settings.by_name),
        half=half,
        sample=sample,
        seed=seed,
        evidence=evidence,
    )

    async def measure_all() -> list[Path]:
        reporter = TerminalReporter()
        ready = await prepare_benchmark(settings, chosen, reporter)
        return await measure(ready, variants, options, reporter)

    # Before hours of work, not after them.
    kept = None if gate is None or update else read_kept(gate)
    folders = asyncio.run(measure_all())
    if gate is not None:
        return pass_gate(load_run(folders[0]), gate, kept)
    runs = [load_run(folder) for folder in folders]

    def tell() -> None:
        print_runs(runs)
        say(f"Report: quorumsql eval report {' '.join(map(str, folders))} --output report.md")

    described = zip(map(describe_run, runs), folders, strict=True)
    return Output([run | {"folder": folder} for run, folder in described], tell)


def pass_gate(run: Run, path: Path, kept: Kept | None) -> Output:
    """The comparison with ``kept``, with status 1 if the run is worse; None: writes its own.

    Worse means that the whole interval of the paired difference in accuracy is below zero.
    """
    dialect = run.manifest.dialect
    records = {record.id: record for record in run.records}
    now = keep_results(run.records, dialect)
    told = f"{sum(record.correct for record in run.records)} of {len(records)} questions are right."
    if kept is None:
        write_kept(path, now)
        return Output({"run": run.name, "kept": path}, f"{told} Kept in {path}: commit it.")
    comparison = compare_kept(str(path), kept, run.name, now)
    passed = comparison.difference.high >= 0
    lost, won = (
        [
            {"id": id_, "question": records[id_].question, "before": kept[id_].verdict}
            | find_verdict(records[id_], dialect)._asdict()
            for id_ in ids
        ]
        for ids in (comparison.lost, comparison.gained)
    )

    def tell() -> None:
        for title, changes in (("Lost", lost), ("Won", won)):
            if changes:
                print_table(changes, title=title)
        say(
            f"{'Passed' if passed else 'Failed'}. {told} Against {path}: "
            f"{show_difference(comparison.difference)} points over {comparison.shared} questions."
        )

    document = {"run": run.name, "passed": passed, "lost": lost, "won": won}
    return Output({**document, "comparison": comparison}, tell, int(not passed))
