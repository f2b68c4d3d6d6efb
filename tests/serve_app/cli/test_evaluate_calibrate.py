"""``eval calibrate``: from runs on disk to a file that the service reads."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from evaluation.runs.run_folder import RunFolder
from nl2sql.errors import SettingsError
from ranking.confidence.calibration import PACKAGED, load_calibration
from tests.evaluation.builders import build_manifest, build_record
from tests.serve_app.cli.conftest import run, write_config


def write_run(folder: Path, count: int, *, told: bool = True) -> Path:
    """A run whose answers are right with the chance of their agreement."""
    generator = random.Random(0)
    names = [f"q{number}" for number in range(count)]
    manifest = build_manifest(*names, k=4, configuration=CONFIGURATION)
    made = RunFolder(folder, manifest)
    with made.open():
        for number, name in enumerate(names):
            agreement = generator.choice([0.25, 0.5, 0.75, 1.0])
            features: dict[str, Any] = {"agreement": agreement, "samples": 2.0}
            made.append(
                build_record(
                    name,
                    database=f"db{number % 6}",
                    k=4,
                    confidence=agreement,
                    correct=generator.random() < agreement,
                    trace={"features": features} if told else {},
                )
            )
    return made.folder


CONFIGURATION = {"ranking": {"min_confidence": 0.0}, "model": {"name": "a/Model-7B"}}


def calibrate(tmp_path: Path, *arguments: Path | str) -> Result:
    output = ("--output", tmp_path / "fit.json", "--risk", "0.4")
    return run(write_config(tmp_path), "eval", "calibrate", *output, *arguments)


def test_a_fit_is_written_with_its_provenance_and_read_again(tmp_path: Path) -> None:
    result = calibrate(tmp_path, write_run(tmp_path / "run", 300), "--from-scratch")
    assert result.exit_code == 0, result.output
    assert "auroc" in result.stdout
    value = json.loads((tmp_path / "fit.json").read_text())
    assert value["provenance"]["models"] == ["a/Model-7B"]
    assert value["provenance"]["questions"] == 300
    assert value["samples"] == [4, 4]
    assert value["provenance"]["risk_is_shown"]
    assert 0 < value["threshold"] < 1
    fitted = load_calibration(tmp_path / "fit.json")
    high, low = (
        fitted.estimate((("agreement", agreement), ("samples", 2.0))) for agreement in (1.0, 0.25)
    )
    assert high > 0.8
    assert low < 0.45
    # Eight samples count as the four of the fit.
    assert fitted.estimate((("agreement", 1.0), ("samples", 3.0))) == high


@pytest.mark.parametrize(("count", "told"), [(60, False), (20, True)])
def test_a_run_without_features_or_with_few_answers_is_refused(
    tmp_path: Path, count: int, told: bool
) -> None:
    with pytest.raises(SettingsError):
        calibrate(tmp_path, write_run(tmp_path / "run", count, told=told))
    assert not (tmp_path / "fit.json").exists()


def test_few_answers_improve_the_packaged_calibration_and_show_no_risk(tmp_path: Path) -> None:
    result = calibrate(tmp_path, write_run(tmp_path / "few", 60), "--risk", "0.02")
    assert result.exit_code == 0, result.output
    assert "No threshold shows" in result.stdout
    value = json.loads((tmp_path / "fit.json").read_text())
    assert value["features"].keys() == json.loads(PACKAGED.read_text())["features"].keys()
    assert not value["provenance"]["risk_is_shown"]
