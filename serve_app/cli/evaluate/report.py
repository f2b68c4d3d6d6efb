"""``eval report``: the figures of runs, their comparison, and a report with charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evaluation.metrics.figures import Estimate, PairedComparison
from evaluation.metrics.metrics import summarize
from evaluation.metrics.pairing import compare_runs
from evaluation.report import Run, write_report
from evaluation.retrieval.records import RetrievalManifest
from evaluation.retrieval.report import render_section
from evaluation.runs.manifest import AnswerManifest
from evaluation.runs.records import QuestionRecord
from evaluation.runs.run_folder import find_runs, read_run
from evaluation.runs.variants import FULL
from nl2sql.errors import SettingsError
from serve_app.cli.evaluate.options import DEFAULT_OUTPUT
from serve_app.cli.output import Output, print_table, prints, say
from serve_app.operations.measuring_retrieval import read_figures

# Columns of figures are not broken.
_TABLE_WIDTH = 160


@prints
def report(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help=f"Run folders; default: those in {DEFAULT_OUTPUT}/.", metavar="RUN…"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="A folder to write: report.md, its charts as pictures, and the questions that "
            "went wrong."
        ),
    ] = None,
) -> Output:
    """Show the figures of runs, and compare them question by question by McNemar's test.

    Each run is compared with the first of its benchmark, which is the baseline if there is one.
    """
    folders = runs or [*find_runs(DEFAULT_OUTPUT), *find_runs(DEFAULT_OUTPUT, RetrievalManifest)]
    if not folders:
        raise SettingsError(
            f"There are no runs in {DEFAULT_OUTPUT}/.", hint="Make one: quorumsql eval run demo_erp"
        )
    searched = [folder for folder in folders if (folder / RetrievalManifest.FILE).exists()]
    loaded = sorted(
        (load_run(folder) for folder in folders if folder not in searched), key=report_order
    )
    comparisons = compare_within(loaded)
    path = None
    if output is not None:
        sections = [list(render_section(*read_figures(folder))) for folder in searched]
        path = write_report(output, loaded, comparisons, sections)
    document = {
        "runs": [_describe(run) for run in loaded],
        "comparisons": comparisons,
        "retrieval": [
            {"folder": folder, "figures": read_figures(folder)[1]} for folder in searched
        ],
        "file": path,
    }

    def tell() -> None:
        print_runs(loaded)
        for comparison in comparisons:
            _print_comparison(comparison)
        if searched:
            _print_retrieval(searched)
        if path is not None:
            say(f"Report: {path}")

    return Output(document, tell)


def _print_comparison(found: PairedComparison) -> None:
    say(
        f"{found.right} minus {found.left} over {found.shared} questions: "
        f"{show_estimate(found.difference, signed=True)}, McNemar p = {found.p_value:.3g}"
    )
    for title, ids in (("gained", found.gained), ("lost", found.lost)):
        say(f"{title} ({len(ids)}): {', '.join(ids) or 'none'}")


def describe_run(folder: Path) -> dict[str, Any]:
    """A run as values of JSON: its folder, what was run, and its figures."""
    return _describe(load_run(folder)) | {"folder": folder}


def _describe(run: Run) -> dict[str, Any]:
    manifest = run.manifest
    return {
        "name": run.name,
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


def _find_threshold(manifest: AnswerManifest, records: Sequence[QuestionRecord]) -> float:
    """The confidence below which the run did not answer: as set, or as calibrated."""
    value = manifest.configuration["ranking"]["min_confidence"]
    if value is not None:
        return float(value)
    return max((float(record.trace.get("threshold", 0.0)) for record in records), default=0.0)


def compare_within(runs: Sequence[Run]) -> list[PairedComparison]:
    """Compares each run with the first of its benchmark, which is the baseline if there is one.

    An ablated run is compared with the run that has all stages, if there is one.
    """
    full = {
        (run.manifest.benchmark, run.manifest.evidence): run
        for run in runs
        if run.manifest.variant == FULL
    }
    first: dict[tuple[str, bool], Run] = {}
    comparisons = []
    for run in runs:
        key = (run.manifest.benchmark, run.manifest.evidence)
        base = first.setdefault(key, run)
        if run.manifest.is_ablated:
            base = full.get(key, base)
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


def print_runs(runs: Sequence[Run]) -> None:
    """Prints one line for each run, and the questions that could not be counted."""
    rows = []
    for run in runs:
        summary, manifest = run.summary, run.manifest
        asked = f" {len(run.records)}/{len(manifest.question_ids)}"
        rows.append(
            {
                "run": run.name,
                "benchmark": f"{manifest.benchmark}{' +evidence' if manifest.evidence else ''}",
                "variant": f"{manifest.variant}{'' if manifest.finished else asked}",
                "right": f"{summary.accuracy.value:.1%} of {summary.counted}",
                "95 %": f"{summary.accuracy.low * 100:.1f} to {summary.accuracy.high:.1%}",
                "vote": f"{summary.chosen.value:.1%}",
                "first": f"{summary.first.value:.1%}",
                "majority": f"{summary.majority.value:.1%}" if summary.majority else None,
                "oracle": f"{summary.oracle.value:.1%}",
                "execute": f"{summary.executes.value:.1%}",
                "ECE": f"{summary.confidence.calibration_error:.3f}"
                if summary.confidence
                else None,
                # Where samples came from a file, times were not measured.
                "q/min": f"{summary.questions_per_minute:.1f}" if manifest.is_timed else None,
            }
        )
    if rows:
        print_table(rows, width=_TABLE_WIDTH)
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
        say(f"{kind} {name}: {reason}")


def _print_retrieval(folders: Sequence[Path]) -> None:
    """Prints one line for each variant of each run of ``eval retrieval``."""
    rows = []
    for folder in folders:
        manifest, figures = read_figures(folder)
        asked = max((variant.questions for variant in figures.variants), default=0)
        name = [
            manifest.benchmark,
            manifest.split,
            "+evidence" if manifest.evidence else "",
            "" if manifest.finished else f"unfinished, {asked} so far",
        ]
        rows += [
            {
                "run": folder.name,
                "benchmark": " ".join(filter(None, name)),
                "way": variant.variant,
                "questions": variant.questions,
                "all gold tables": f"{variant.all_tables.value:.1%}",
                "95 %": f"{variant.all_tables.low * 100:.1f} to {variant.all_tables.high:.1%}",
                "gold tables": f"{variant.tables.value:.1%}",
                "gold columns": f"{variant.columns.value:.1%}",
                "tables shown": f"{variant.shown_tables:.1f}",
            }
            for variant in figures.variants
        ]
    print_table(rows, title="retrieval", width=_TABLE_WIDTH)


def show_estimate(estimate: Estimate, *, signed: bool = False) -> str:
    """The value with its interval."""
    sign = "+" if signed else ""
    return (
        f"{estimate.value:{sign}.1%} "
        f"(95 % from {estimate.low:{sign}.1%} to {estimate.high:{sign}.1%})"
    )
