"""What runs amount to, as the command line puts them together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.runs.kept_results import read_kept
from evaluation.runs.run_folder import RunFolder
from serve_app.cli.app import app
from serve_app.cli.evaluate.gate import pass_gate
from serve_app.cli.evaluate.report import (
    compare_within,
    load_run,
    report,
)
from serve_app.cli.output import Output, render_json
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


def test_a_gate_keeps_the_first_results_and_fails_a_worse_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"q{number}" for number in range(9)]
    path = tmp_path / "kept.jsonl"
    outputs: list[Output] = []
    for folder, last in (("one", 0), ("two", 5)):
        made = RunFolder(tmp_path / folder, build_manifest(*names))
        with made.open():
            for number, name in enumerate(names):
                made.append(build_record(name, correct=number >= last))
        kept = read_kept(path) if outputs else None
        outputs.append(pass_gate(load_run(made.folder), path, kept))
    first, second = outputs
    assert (first.exit_code, second.exit_code) == (0, 1)
    second.tell()
    told = capsys.readouterr().out
    assert "How many q4?" in told
    assert "Failed. 4 of 9 questions are right." in told
    assert len(json.loads(render_json(second.document))["lost"]) == 5


@pytest.mark.parametrize("options", [("--gate", "kept.jsonl", "--k", "1,4"), ("--update",)])
def test_a_gate_takes_one_run(options: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["eval", "run", *options])
    assert result.exit_code == 2
    assert "judges one run" in result.output
