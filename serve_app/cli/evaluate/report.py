"""``eval report``: the figures of runs, their comparison, and a report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evaluation.metrics.figures import PairedComparison
from evaluation.metrics.metrics import summarize
from evaluation.metrics.pairing import compare_runs
from evaluation.report import Run, render_markdown
from evaluation.report.sections import build_sections
from evaluation.report.tables import ReportTable, build_main_tables
from evaluation.runs.manifest import RunManifest
from evaluation.runs.records import QuestionRecord
from evaluation.runs.run_folder import find_runs, read_run
from nl2sql.errors import SettingsError
from serve_app.cli.evaluate.options import DEFAULT_OUTPUT
from serve_app.cli.output import Output, print_table, prints, say


@prints
def report(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help=f"Run folders; default: those in {DEFAULT_OUTPUT}/.", metavar="RUN…"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="A file to write, as Markdown: all tables, and the questions that went wrong."
        ),
    ] = None,
) -> Output:
    """Show the figures of runs, and compare them question by question by McNemar's test.

    Each run is compared with the first of its benchmark, which is the baseline if there is one.
    """
    folders = runs or find_runs(DEFAULT_OUTPUT)
    if not folders:
        raise SettingsError(
            f"There are no runs in {DEFAULT_OUTPUT}/.", hint="Make one: quorumsql eval run demo_erp"
        )
    loaded = [load_run(folder) for folder in folders]
    comparisons = compare_within(loaded)
    if output is not None:
        output.write_text(render_markdown(loaded, comparisons), encoding="utf-8")
    document = {
        "runs": [describe_run(run) for run in loaded],
        "comparisons": comparisons,
        "file": output,
    }

    def tell() -> None:
        print_runs(loaded, comparisons)
        if output is not None:
            say(f"Report: {output}")

    return Output(document, tell)


def describe_run(run: Run) -> dict[str, Any]:
    """A run as values of JSON: what was run, and its figures."""
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


def _find_threshold(manifest: RunManifest, records: Sequence[QuestionRecord]) -> float:
    """The confidence below which the run did not answer: as set, or as calibrated."""
    value = manifest.configuration["ranking"]["min_confidence"]
    if value is not None:
        return float(value)
    return max((float(record.trace.get("threshold", 0.0)) for record in records), default=0.0)


def compare_within(runs: Sequence[Run]) -> list[PairedComparison]:
    """Compares each run with the first of its benchmark, which is the baseline if there is one."""
    return [
        compare_runs(first.name, first.records, run.name, run.records)
        for section in build_sections(runs, ())
        for first in section.runs[:1]
        for run in section.runs[1:]
    ]


def print_runs(runs: Sequence[Run], comparisons: Sequence[PairedComparison] = ()) -> None:
    """Prints the main tables of each benchmark, and the questions that ended in an error."""
    for section in build_sections(runs, comparisons):
        say(section.title)
        for note in section.notes:
            say(note)
        print_tables(build_main_tables(section))
        for run in section.runs:
            for name, reason in run.summary.errors:
                say(f"error {run.label} {name}: {reason}")


def print_tables(tables: Iterable[ReportTable]) -> None:
    """Prints tables of the report."""
    for table in tables:
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        print_table(rows, title=table.title)
