"""What runs amount to, as the command line puts them together."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.runs.run_folder import RunFolder
from serve_app.cli.evaluate.report import (
    compare_within,
    load_run,
    report,
)
from tests.evaluation.builders import build_manifest, build_record


def write(folder: Path, name: str, **manifest: object) -> Path:
    run = RunFolder(folder / name, build_manifest("q1", **manifest))
    with run.open():
        run.append(build_record("q1"))
    return run.folder


@pytest.mark.parametrize(("configured", "expected"), [(0.25, 0.25), (None, 0.5)])
def test_the_threshold_is_as_set_or_as_the_calibration_had_it(
    tmp_path: Path, configured: float | None, expected: float
) -> None:
    ranking = {"ranking": {"min_confidence": configured}}
    run = RunFolder(tmp_path / "a", build_manifest("q1", k=4, configuration=ranking))
    with run.open():
        run.append(build_record("q1", k=4, confidence=0.6, trace={"threshold": 0.5}))
    confidence = load_run(run.folder).summary.confidence
    assert confidence is not None
    assert confidence.at_threshold.threshold == expected


def test_the_report_is_a_file(tmp_path: Path) -> None:
    report([write(tmp_path, "one", k=4)], tmp_path / "report.md")
    assert "### Accuracy" in (tmp_path / "report.md").read_text()


def test_each_run_is_held_against_the_baseline_of_its_own_benchmark(tmp_path: Path) -> None:
    folders = [
        write(tmp_path, "one", k=1),
        write(tmp_path, "plain", variant="plain", baseline="plain"),
        write(tmp_path, "other", benchmark="another"),
    ]
    runs = [load_run(folder) for folder in folders]
    assert [(each.left, each.right) for each in compare_within(runs)] == [("plain", "one")]
