"""``eval calibrate``: fits the calibration of the confidence to runs, and measures it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from evaluation.metrics.calibration_fit import (
    Case,
    collect_cases,
    fit_calibration,
    measure_fit,
    render_calibration,
)
from evaluation.metrics.confidence import count_fewest
from evaluation.metrics.figures import CalibrationFigures
from evaluation.runs.manifest import RunManifest
from evaluation.runs.run_folder import read_run
from nl2sql.errors import SettingsError
from ranking.confidence.calibration import load_calibration
from serve_app.cli.output import Output, print_document, prints, say

_FEWEST_CASES = 50


@prints
def calibrate(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.", metavar="RUN…")],
    output: Annotated[
        Path, typer.Option(help="The file to write; name it in ranking.calibration.")
    ] = Path("calibration.json"),
    risk: Annotated[
        float,
        typer.Option(
            help="The largest share of wrong answers above the threshold, to hold with 95 % "
            "confidence.",
            min=0.01,
            max=0.5,
        ),
    ] = 0.1,
    from_scratch: Annotated[
        bool,
        typer.Option(
            "--from-scratch",
            help="Fit without the packaged calibration, which otherwise is what a few dozen "
            "answers improve.",
        ),
    ] = False,
) -> Output:
    """Fit the confidence to the right and wrong answers of runs, and report its quality.

    Of a question with several runs, the first that is named counts in the figures.
    """
    cases: list[Case] = []
    asked: set[tuple[str, str]] = set()
    manifests: list[RunManifest] = []
    for folder in runs:
        manifest, records = read_run(folder)
        manifests.append(manifest)
        found = collect_cases(records)
        if not found:
            raise SettingsError(
                f"The traces in {folder} do not contain the features of the confidence.",
                hint="Repeat the run: traces of this version contain them.",
            )
        cases += found
        asked.update((manifest.benchmark, record.id) for record in records if record.counts)
    first = None if from_scratch else load_calibration()
    if len(cases) < _FEWEST_CASES or (first is None and len({case.right for case in cases}) < 2):
        raise SettingsError(
            f"{len(cases)} answers are too few to fit a confidence.",
            hint=f"At least {_FEWEST_CASES} are needed, right and wrong ones.",
        )
    figures = measure_fit(cases, len(asked), risk, first)
    threshold = figures.confidence.at_threshold.threshold
    origin = _describe(runs, manifests, figures, risk)
    value = render_calibration(replace(fit_calibration(cases, first), threshold=threshold), origin)
    output.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    document = {"file": output, "threshold": round(threshold, 4), **origin}

    def tell() -> None:
        print_document(document)
        if not figures.is_safe:
            say(
                f"No threshold shows that at most {risk:.0%} are wrong: that takes at least "
                f"{count_fewest(risk)} answers, all right. {threshold:.3f} is what the confidences "
                "promise, without proof."
            )

    return Output(document, tell)


def _describe(
    runs: Sequence[Path], manifests: Sequence[RunManifest], figures: CalibrationFigures, risk: float
) -> dict[str, Any]:
    """The origin and quality of the calibration, as stored in its file."""
    return {
        "runs": [folder.name for folder in runs],
        "benchmarks": sorted({manifest.benchmark for manifest in manifests}),
        "models": sorted({str(manifest.configuration["model"]["name"]) for manifest in manifests}),
        "questions": figures.questions,
        "answered": figures.answered,
        "date": datetime.now(UTC).date().isoformat(),
        "folds": figures.folds,
        "calibration_error": round(figures.confidence.calibration_error, 4),
        "brier": round(figures.confidence.brier, 4),
        "auroc": round(figures.confidence.auroc, 4),
        "coverage": round(figures.confidence.at_threshold.coverage, 4),
        # With the threshold from the other folds.
        "honest_coverage": round(figures.honest_coverage, 4),
        "honest_accuracy": round(figures.honest_accuracy.value, 4),
        "risk": risk,
        "risk_is_shown": figures.is_safe,
    }
