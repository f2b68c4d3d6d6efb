"""``eval fit-score``: fits the points of the score to runs, and measures them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from evaluation.metrics.ballots import Ballot, collect_ballots
from evaluation.metrics.pairing import compare_marks
from evaluation.metrics.score_fit import ScoreFit, fit_score, render_points
from evaluation.metrics.statistics import estimate
from evaluation.runs.run_folder import read_run
from nl2sql.errors import SettingsError
from ranking.score.points import load_points
from serve_app.cli.evaluate.show import Folders, show_estimate
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE

_FEWEST_CONTESTED = 50


@prints
def fit_score_points(
    runs: Folders,
    output: Annotated[
        Path, typer.Option(help="The file to write; ranking/score/points.json is what serves.")
    ] = Path("points.json"),
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.", min=2)] = 10,
) -> Output:
    """Fit the points of the score to the right and wrong candidates of runs."""
    ballots: list[Ballot] = []
    parts: list[tuple[str, int, int]] = []
    for folder in runs:
        found = collect_ballots(read_run(folder)[1])
        if not any(option.strengths for ballot in found for option in ballot.options):
            raise SettingsError(
                f"The traces in {folder} do not contain the strengths of the score's terms.",
                hint="Repeat the run: traces of this version contain them.",
            )
        parts.append((folder.name, len(ballots), len(ballots) + len(found)))
        ballots += found
    contested = sum(ballot.is_contested for ballot in ballots)
    if contested < _FEWEST_CONTESTED:
        raise SettingsError(
            f"{contested} questions with right and wrong results are too few to fit a score.",
            hint=f"At least {_FEWEST_CONTESTED} are needed.",
        )
    fit = fit_score(ballots, load_points(), folds)
    value = render_points(fit.points, _describe(runs, ballots, fit, folds))
    output.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")

    def render() -> None:
        _print_parts(parts, fit)
        _print_terms(fit)
        CONSOLE.print(f"[green]✓[/] {escape(str(output))}", highlight=False)

    return Output({"file": output, **value}, render)


def _describe(
    runs: Sequence[Path], ballots: Sequence[Ballot], fit: ScoreFit, folds: int
) -> dict[str, Any]:
    """The origin and quality of the points, as stored in their file."""
    return {
        "command": f"quorumsql eval fit-score {' '.join(folder.name for folder in runs)}",
        "benchmarks": sorted({read_run(folder)[0].benchmark for folder in runs}),
        "databases": len({ballot.database for ballot in ballots}),
        "questions": len({(ballot.database, ballot.question) for ballot in ballots}),
        "answers": len(ballots),
        "contested": sum(ballot.is_contested for ballot in ballots),
        "date": datetime.now(UTC).date().isoformat(),
        "folds": folds,
        "right_out_of_fold": round(sum(fit.after) / len(ballots), 4),
    }


def _print_parts(parts: Sequence[tuple[str, int, int]], fit: ScoreFit) -> None:
    """For each run: right by the points that serve now, and by fitted ones out of fold."""
    rows = []
    for name, start, end in parts:
        before, after = fit.before[start:end], fit.after[start:end]
        pair = compare_marks("before", _number(before), "after", _number(after))
        rows.append(
            (
                name,
                show_estimate(estimate([float(mark) for mark in before])),
                show_estimate(estimate([float(mark) for mark in after])),
                f"{show_estimate(pair.difference, signed=True)} "
                f"({len(pair.gained)} gained, {len(pair.lost)} lost)",
            )
        )
    _print_table(("run", "points that serve", "fitted, out of fold", "difference"), rows)
    if fit.rules:
        _print_table(
            ("rule that derives", "made right", "made wrong"),
            [(rule, str(fixed), str(broken)) for rule, (fixed, broken) in fit.rules.items()],
        )


def _number(marks: Sequence[bool]) -> dict[str, bool]:
    return {str(at): mark for at, mark in enumerate(marks)}


def _print_terms(fit: ScoreFit) -> None:
    rows = [
        (name, f"{term.prior:+.1f}", f"{term.points:+.1f}", str(term.questions))
        for name, term in fit.points.terms.items()
        if not term.fixed
    ]
    _print_table(("term", "prior", "points", "questions"), rows)


def _print_table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    CONSOLE.print(table)
