"""``eval report``, ``eval compare``, ``eval list``: show the figures of runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from evaluation.metrics.figures import Estimate, PairedComparison
from evaluation.metrics.metrics import summarize
from evaluation.metrics.pairing import compare_runs
from evaluation.report import Run, write_report
from evaluation.report.cells import NONE
from evaluation.retrieval.records import RetrievalManifest
from evaluation.retrieval.report_section import build_section
from evaluation.runs.manifest import Manifest
from evaluation.runs.records import QuestionRecord
from evaluation.runs.run_folder import find_runs, read_run
from nl2sql.errors import SettingsError
from serve_app.cli.evaluate.options import DEFAULT_OUTPUT
from serve_app.cli.output import Output, prints
from serve_app.cli.safe_text import SafeConsole
from serve_app.cli.terminal import CONSOLE
from serve_app.operations.measuring_retrieval import read_figures

_TABLE_WIDTH = 140
_BENCHMARK_WIDTH = 14
_COLUMNS = (
    "variant",
    "right",
    "95 %",
    "vote",
    "first",
    "majority",
    "oracle",
    "execute",
    "ECE",
    "q/min",
)
_RETRIEVAL_COLUMNS = (
    "way",
    "questions",
    "all gold tables",
    "95 %",
    "gold tables",
    "gold columns",
    "tables shown",
)

Folders = Annotated[list[Path], typer.Argument(help="Run folders.", metavar="RUN…")]


@prints
def report(
    runs: Folders,
    output: Annotated[Path, typer.Option(help="The folder for report.md and its pictures.")] = Path(
        "report"
    ),
) -> Output:
    """Write a Markdown report with its charts as pictures, and the questions that went wrong.

    Runs of `eval retrieval` come after the others.
    """
    searched = [folder for folder in runs if (folder / RetrievalManifest.FILE).exists()]
    loaded = sorted(
        (load_run(folder) for folder in runs if folder not in searched), key=report_order
    )
    comparisons = compare_within(loaded)
    retrieval = [
        build_section(*read_figures(folder), f"retrieval-{number}")
        for number, folder in enumerate(searched)
    ]
    path = write_report(output, loaded, comparisons, retrieval)
    told = f"[green]✓[/] {escape(str(path))}"
    return Output({"files": [path]}, lambda: CONSOLE.print(told, highlight=False))


@prints
def compare(
    left: Annotated[Path, typer.Argument(help="A run folder.")],
    right: Annotated[Path, typer.Argument(help="The run folder to compare it with.")],
) -> Output:
    """Compare two runs question by question: McNemar's test, and the questions that flipped."""
    one, other = load_run(left), load_run(right)
    found = compare_runs(one.name, one.records, other.name, other.records)
    if not found.shared:
        raise SettingsError("The runs share no question.", hint="`eval list` shows the runs.")
    return Output(found, lambda: _print_comparison(found))


def _print_comparison(found: PairedComparison) -> None:
    CONSOLE.print(
        f"{found.right} minus {found.left} over {found.shared} questions: "
        f"{show_estimate(found.difference, signed=True)}, McNemar p = {found.p_value:.3g}",
        highlight=False,
        markup=False,
    )
    for title, ids in (("gained", found.gained), ("lost", found.lost)):
        CONSOLE.print(
            f"{title} ({len(ids)}): {', '.join(ids) or 'none'}", highlight=False, markup=False
        )


@prints
def list_runs(
    folder: Annotated[Path, typer.Argument(help="The folder that holds the runs.")] = (
        DEFAULT_OUTPUT
    ),
) -> Output:
    """List the runs in a folder, with their figures."""
    found, searched = find_runs(folder), find_runs(folder, RetrievalManifest)
    document = {
        "runs": [describe_run(path) for path in found],
        "retrieval": [{"folder": path, "figures": read_figures(path)[1]} for path in searched],
    }
    return Output(document, lambda: _print_list(folder, found, searched))


def _print_list(folder: Path, found: Sequence[Path], searched: Sequence[Path]) -> None:
    if not found and not searched:
        told = f"No runs in {folder}. Make one: quorumsql eval run demo_erp"
        CONSOLE.print(told, markup=False)
        return
    if found:
        print_runs(found)
    if searched:
        print_retrieval(searched)
    for path in (*found, *searched):
        CONSOLE.print(str(path), highlight=False, markup=False, soft_wrap=True)


def describe_run(folder: Path) -> dict[str, Any]:
    """A run as values of JSON: its folder, what was run, and its figures."""
    run = load_run(folder)
    manifest = run.manifest
    return {
        "folder": folder,
        "benchmark": manifest.benchmark,
        "variant": manifest.variant,
        "evidence": manifest.evidence,
        "finished": manifest.finished,
        "figures": run.summary,
    }


def load_run(folder: Path) -> Run:
    """The run in a folder, with its figures. Raises SettingsError if there is none."""
    manifest, records = read_run(folder)
    threshold = _find_threshold(manifest, records)
    summary = summarize(records, seconds=manifest.seconds, threshold=threshold)
    return Run(folder.name, manifest, records, summary)


def _find_threshold(manifest: Manifest, records: Sequence[QuestionRecord]) -> float:
    """The confidence below which the run did not answer: as set, or as calibrated."""
    value = manifest.configuration["ranking"]["min_confidence"]
    if value is not None:
        return float(value)
    return max((float(record.trace.get("threshold", 0.0)) for record in records), default=0.0)


def compare_within(runs: Sequence[Run]) -> list[PairedComparison]:
    """Compares each run with the first of its benchmark, which is the baseline if there is one."""
    first: dict[tuple[str, bool], Run] = {}
    comparisons = []
    for run in runs:
        key = (run.manifest.benchmark, run.manifest.evidence)
        base = first.setdefault(key, run)
        if base is not run:
            comparisons.append(compare_runs(base.name, base.records, run.name, run.records))
    return comparisons


def report_order(run: Run) -> tuple[str, bool, bool, int, bool]:
    """Sort key: by benchmark, the baseline first, then by K, ablated runs last."""
    manifest = run.manifest
    return (
        manifest.benchmark,
        manifest.evidence,
        not manifest.baseline,
        manifest.k,
        manifest.is_ablated,
    )


def print_runs(folders: Sequence[Path]) -> None:
    """Prints one line for each run, and the questions that could not be counted."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("benchmark", overflow="fold", min_width=_BENCHMARK_WIDTH)
    for column in _COLUMNS:
        table.add_column(column, no_wrap=True)
    runs = sorted((load_run(folder) for folder in folders), key=report_order)
    for run in runs:
        summary, manifest = run.summary, run.manifest
        asked = f" {len(run.records)}/{len(manifest.question_ids)}"
        table.add_row(
            Text(f"{manifest.benchmark}{' +evidence' if manifest.evidence else ''}"),
            Text(f"{manifest.variant}{'' if manifest.finished else asked}"),
            f"{summary.accuracy.value:.1%} of {summary.counted}",
            f"{summary.accuracy.low * 100:.1f} to {summary.accuracy.high:.1%}",
            f"{summary.chosen.value:.1%}",
            f"{summary.first.value:.1%}",
            f"{summary.majority.value:.1%}" if summary.majority else NONE,
            f"{summary.oracle.value:.1%}",
            f"{summary.executes.value:.1%}",
            f"{summary.confidence.calibration_error:.3f}" if summary.confidence else NONE,
            f"{summary.questions_per_minute:.1f}" if manifest.is_timed else NONE,
        )
    _print_wide(table)
    if not all(run.manifest.is_timed for run in runs):
        CONSOLE.print(
            f"q/min {NONE}: samples came from a file, so times were not measured.",
            highlight=False,
        )
    named = dict.fromkeys(
        (kind, name, reason)
        for run in runs
        for kind, problems in (
            ("gold fails", run.summary.gold_failed),
            ("error", run.summary.errors),
        )
        for name, reason in problems
    )
    for kind, name, reason in named:
        CONSOLE.print(f"[red]{kind}[/] {escape(f'{name}: {reason}')}", highlight=False)


def print_retrieval(folders: Sequence[Path]) -> None:
    """Prints one line for each variant of each run of ``eval retrieval``."""
    table = Table(title="retrieval", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("benchmark", overflow="fold", min_width=_BENCHMARK_WIDTH)
    for column in _RETRIEVAL_COLUMNS:
        table.add_column(column, no_wrap=True)
    for folder in folders:
        manifest, figures = read_figures(folder)
        asked = max((variant.questions for variant in figures.variants), default=0)
        name = " ".join(
            part
            for part in (
                manifest.benchmark,
                manifest.split,
                "+evidence" if manifest.evidence else "",
                "" if manifest.finished else f"unfinished, {asked} so far",
            )
            if part
        )
        for variant in figures.variants:
            table.add_row(
                Text(name),
                Text(variant.variant),
                f"{variant.questions}",
                f"{variant.all_tables.value:.1%}",
                f"{variant.all_tables.low * 100:.1f} to {variant.all_tables.high:.1%}",
                f"{variant.tables.value:.1%}",
                f"{variant.columns.value:.1%}",
                f"{variant.shown_tables:.1f}",
            )
    _print_wide(table)


def _print_wide(table: Table) -> None:
    """Prints a table with long lines rather than truncated figures."""
    SafeConsole(width=max(CONSOLE.width, _TABLE_WIDTH)).print(table)


def show_estimate(estimate: Estimate, *, signed: bool = False) -> str:
    """The value with its interval."""
    sign = "+" if signed else ""
    return (
        f"{estimate.value:{sign}.1%} "
        f"(95 % from {estimate.low:{sign}.1%} to {estimate.high:{sign}.1%})"
    )
