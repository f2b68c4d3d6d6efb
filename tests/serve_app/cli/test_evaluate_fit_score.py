"""``eval fit-score``: from runs on disk to the file of points."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner, Result

from evaluation.runs.records import CandidateRecord
from evaluation.runs.run_folder import RunFolder
from ranking.score.points import load_points, parse_points
from serve_app.cli.app import app
from tests.evaluation.builders import build_manifest, build_record


def write_run(folder: Path, count: int, *, told: bool = True) -> Path:
    """A run in which a wrong result is often without rows."""
    generator = random.Random(0)
    names = [f"q{number}" for number in range(count)]
    run = RunFolder(folder, build_manifest(*names, k=2))
    with run.open():
        for number, name in enumerate(names):
            strengths: list[dict[str, float]] = [{}, {"no_rows": 1.0}]
            if generator.random() < 0.05:
                strengths.reverse()
            trace: dict[str, Any] = {
                "candidates": [
                    {"id": f"c{at}", "score": {"strengths": each} if told else {}}
                    for at, each in enumerate(strengths)
                ]
            }
            candidates = tuple(
                CandidateRecord(id=f"c{at}", sql="", group=at, correct=at == 0) for at in range(2)
            )
            run.append(
                build_record(
                    name, database=f"db{number % 6}", k=2, candidates=candidates, trace=trace
                )
            )
    return run.folder


def fit(tmp_path: Path, *runs: Path) -> Result:
    config = tmp_path / "quorumsql.yaml"
    config.write_text(yaml.safe_dump({"databases": {"shop": {"reader": {"url": "embedded"}}}}))
    output = ["--output", str(tmp_path / "points.json")]
    arguments = ["--config", str(config), "eval", "fit-score", *map(str, runs), *output]
    return CliRunner().invoke(app, arguments)


def test_the_points_are_written_with_their_provenance_and_read_again(tmp_path: Path) -> None:
    result = fit(tmp_path, write_run(tmp_path / "run", 200))
    assert result.exit_code == 0, result.output
    points = parse_points((tmp_path / "points.json").read_text())
    assert points.find("no_rows") < load_points().terms["no_rows"].prior
    assert points.terms["no_rows"].questions == 200
    assert set(points.terms) == set(load_points().terms)


def test_a_run_that_tells_no_strengths_is_refused(tmp_path: Path) -> None:
    assert fit(tmp_path, write_run(tmp_path / "old", 200, told=False)).exit_code != 0
    assert not (tmp_path / "points.json").exists()


def test_too_few_questions_are_refused(tmp_path: Path) -> None:
    assert fit(tmp_path, write_run(tmp_path / "few", 20)).exit_code != 0
