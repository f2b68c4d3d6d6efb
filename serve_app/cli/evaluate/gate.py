"""``eval run --gate``: holds a run against the kept results of an exam, or replaces them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from evaluation.metrics.gate import compare_with_kept
from evaluation.report import Run
from evaluation.report.tables import show_difference
from evaluation.runs.kept_results import KeptResult, keep_result, write_kept
from serve_app.cli.output import Output, print_table, say

_TITLES = {"lost": "Lost", "won": "Won", "unjudged": "Not judged any more"}


def pass_gate(run: Run, path: Path, kept: Sequence[KeptResult] | None) -> Output:
    """The comparison with ``kept``, with status 1 if the run is worse; None: writes its own."""
    dialect = run.manifest.dialect
    right, counted = sum(record.correct for record in run.records), run.summary.counted
    told = f"{right} of {counted} questions are right."
    if kept is None:
        write_kept(path, [keep_result(record, dialect) for record in run.records])
        return Output({"run": run.name, "kept": path}, f"{told} Kept in {path}: commit it.")
    report = compare_with_kept(str(path), kept, run.name, run.records, dialect)
    verdict = "Passed" if report.passed else "Failed"
    change = show_difference(report.comparison.difference)
    document = {"run": run.name, "kept": path, "passed": report.passed, **asdict(report)}

    def tell() -> None:
        for field, title in _TITLES.items():
            if changes := document[field]:
                print_table(changes, title=title)
        say(
            f"{verdict}. {told} Against {path}: {change} points over {report.comparison.shared} "
            f"questions. Same verdict with another query: {report.rewritten}."
        )

    return Output(document, tell, int(not report.passed))
