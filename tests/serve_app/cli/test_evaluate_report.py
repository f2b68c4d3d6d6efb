"""What runs amount to, as the command line puts them together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluation.runs.run_folder import RunFolder
from serve_app.cli.evaluate.report import (
    compare_within,
    load_run,
    report,
)
from tests.evaluation.builders import build_manifest, build_record
from tests.evaluation.retrieval.builders import build_finding
from tests.evaluation.retrieval.builders import build_manifest as build_retrieval_manifest
from tests.evaluation.retrieval.builders import build_record as build_retrieval_record


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


def test_retrieval_has_a_table_of_its_own_and_a_part_of_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answered = write(tmp_path, "one", k=4, samples="kept.samples")
    manifest = build_retrieval_manifest("q1", benchmark="depot")
    run = RunFolder(tmp_path / "searched", manifest)
    with run.open():
        run.append(build_retrieval_record("q1", build_finding("s.orders", "s.lines")))
    report([answered, run.folder])
    listed = capsys.readouterr().out
    own = listed.partition("searched: depot")[2]
    assert re.search(r"full +1 +100.0", own)

    report([answered, run.folder], tmp_path / "both")
    report([run.folder], tmp_path / "alone")
    both, alone = ((tmp_path / name / "report.md").read_text() for name in ("both", "alone"))
    assert "## Retrieval: depot" in both
    assert "## Retrieval: depot" in alone
    assert "### Accuracy" in both
    assert "### Accuracy" not in alone


def test_each_run_is_held_against_the_baseline_of_its_own_benchmark(tmp_path: Path) -> None:
    folders = [
        write(tmp_path, "one", k=1),
        write(tmp_path, "plain", variant="plain", baseline="plain"),
        write(tmp_path, "other", benchmark="another"),
    ]
    runs = [load_run(folder) for folder in folders]
    assert [(each.left, each.right) for each in compare_within(runs)] == [("plain", "one")]
