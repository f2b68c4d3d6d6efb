"""Fits the points of the score's terms to runs: which result wins, among those of one question.

``python -m bench.fit_score RUN… [--output points.json] [--folds 10]``: what serves is
``ranking/score/points.json``.

The model is the vote itself (``ranking.vote.order.py``). A result wins with a probability in
proportion to its weight, the sum over its samples of exp(score / 25), and the fit maximises the
likelihood of the right results, over the questions that have right and wrong ones: a conditional
logit, which compares results of one question only. A ridge penalty draws every term towards its
prior. The figures are measured out of fold, by database: the points that judge a question were
fitted without its database.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from evaluation.metrics.calibration_fit import assign_folds
from evaluation.metrics.pairing import compare_marks
from evaluation.metrics.statistics import estimate
from evaluation.runs.records import QuestionRecord
from evaluation.runs.run_folder import read_run
from nl2sql.types import Candidate
from ranking.score.points import POINTS, SCALE
from ranking.vote.order import find_source

# The ridge penalty on the square of a term's distance from its prior, in units of SCALE points.
# Chosen by the likelihood out of fold, see docs/lab/answers.md.
PENALTY = 1.0

_Numbers = npt.NDArray[np.float64]
_Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TermPoints:
    """The points of one term. ``questions`` is in how many it told right from wrong groups."""

    points: float = 0.0
    prior: float = 0.0
    fixed: bool = False
    questions: int = 0


Points = Mapping[str, TermPoints]
"""The points of all terms by name."""


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate with a result (others take no part): its group, samples and terms."""

    group: int
    source: str
    samples: int
    strengths: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ballot:
    """The candidates of one question that had a result, and the groups that are right."""

    question: str
    database: str
    options: tuple[Option, ...]
    right: frozenset[int]

    @property
    def is_contested(self) -> bool:
        """True if a right and a wrong result can win."""
        groups = {option.group for option in self.options}
        return bool(groups & self.right) and bool(groups - self.right)


def collect_ballots(records: Iterable[QuestionRecord]) -> list[Ballot]:
    """The ballots of a run; one without candidates that ran has no options."""
    return [_read_ballot(record) for record in records if record.counts]


def _read_ballot(record: QuestionRecord) -> Ballot:
    shown = {each["id"]: each for each in record.trace.get("candidates", ())}
    known = {
        each.id: Candidate(
            each.id, each.sql, each.samples, each.origin, derived_from=each.derived_from
        )
        for each in record.candidates
    }
    options = []
    for each in record.candidates:
        if each.group < 0 or each.id not in shown:
            continue
        source, samples = find_source(known[each.id], known)
        strengths = dict(shown[each.id]["score"].get("strengths", {}))
        strengths.pop("base", None)
        options.append(Option(each.group, source, samples, strengths))
    return Ballot(
        record.id,
        record.database,
        tuple(options),
        frozenset(each.group for each in record.candidates if each.correct and each.group >= 0),
    )


@dataclass(frozen=True, slots=True)
class ScoreFit:
    """The fitted points, and which ballots are right: by the points before, and out of fold."""

    points: Points
    before: tuple[bool, ...]
    after: tuple[bool, ...]


def fit_score(ballots: Sequence[Ballot], before: Points, folds: int) -> ScoreFit:
    """Fits all points that are not fixed, on all ballots, and measures them out of fold."""
    seen = {name for ballot in ballots for option in ballot.options for name in option.strengths}
    names = [*before, *sorted(seen - set(before))]
    terms = [before.get(name, TermPoints()) for name in names]
    prior = np.array([term.prior / SCALE for term in terms])
    free = np.array([not term.fixed for term in terms])
    tables = [_Table.build(ballot, names) for ballot in ballots]
    repeats = Counter((ballot.database, ballot.question) for ballot in ballots)
    shares = [1 / repeats[ballot.database, ballot.question] for ballot in ballots]
    parts = assign_folds([ballot.database for ballot in ballots], folds)
    fitted = {
        part: _maximize(
            [table for table, at in zip(tables, parts, strict=True) if at != part],
            [share for share, at in zip(shares, parts, strict=True) if at != part],
            prior,
            free,
        )
        for part in sorted(set(parts))
    }
    old = np.array([term.points / SCALE for term in terms])
    whole = _maximize(tables, shares, prior, free)
    told = _count_questions(ballots, names)
    points = {
        name: replace(term, points=round(float(value) * SCALE, 1), questions=told[name])
        for name, term, value in zip(names, terms, whole, strict=True)
    }
    return ScoreFit(
        points,
        tuple(table.is_right(old) for table in tables),
        tuple(table.is_right(fitted[part]) for table, part in zip(tables, parts, strict=True)),
    )


def render_points(points: Points, provenance: Mapping[str, Any]) -> Any:
    """The points with their provenance, as the JSON value that ``ranking.score`` reads."""
    return {
        "provenance": dict(provenance),
        "terms": {
            name: {
                "points": term.points,
                "prior": term.prior,
                **({"fixed": True} if term.fixed else {}),
                "questions": term.questions,
            }
            for name, term in points.items()
        },
    }


@dataclass(frozen=True, slots=True)
class _Table:
    """A ballot as numbers: a row of strengths for each option.

    ``slots`` numbers the pairs of group and source, each of which votes once; ``groups`` has the
    place in ``right`` of each slot's group.
    """

    strengths: _Numbers
    samples: _Numbers
    slots: _Places
    groups: _Places
    right: npt.NDArray[np.bool_]

    @classmethod
    def build(cls, ballot: Ballot, names: Sequence[str]) -> _Table:
        options = [option for option in ballot.options if option.samples]
        column = {name: at for at, name in enumerate(names)}
        strengths = np.zeros((len(options), len(names)))
        for row, option in enumerate(options):
            for name, strength in option.strengths.items():
                strengths[row, column[name]] = strength
        pairs = list(dict.fromkeys((option.group, option.source) for option in options))
        groups = list(dict.fromkeys(group for group, _ in pairs))
        return cls(
            strengths,
            np.log([option.samples for option in options]),
            np.array([pairs.index((option.group, option.source)) for option in options], np.intp),
            np.array([groups.index(group) for group, _ in pairs], np.intp),
            np.array([group in ballot.right for group in groups], bool),
        )

    @property
    def is_contested(self) -> bool:
        return bool(self.right.any()) and not self.right.all()

    def weigh(self, weights: _Numbers) -> tuple[_Numbers, _Numbers, _Places]:
        """The logarithm of each group's weight; the share of each slot in its group's; its row."""
        logs = self.samples + self.strengths @ weights
        order = np.argsort(logs, kind="stable")
        rows = np.empty(len(self.groups), np.intp)
        rows[self.slots[order]] = order  # the last, and so the largest, remains
        top = logs.max()
        each = np.exp(logs[rows] - top)
        sums = np.maximum(np.bincount(self.groups, each, len(self.right)), 1e-300)
        return np.log(sums) + top, each / sums[self.groups], rows

    def is_right(self, weights: _Numbers) -> bool:
        """True if the group with most weight is right."""
        return bool(len(self.right)) and bool(self.right[np.argmax(self.weigh(weights)[0])])

    def measure_loss(self, weights: _Numbers) -> tuple[float, _Numbers]:
        """The negative log-likelihood that a right group wins, and its slope."""
        logs, shares, rows = self.weigh(weights)
        chance = np.exp(logs - logs.max())
        chance /= chance.sum()
        right = max(float(chance @ self.right), 1e-12)
        pull = (chance - chance * self.right / right)[self.groups] * shares
        return -math.log(right), self.strengths[rows].T @ pull


def _maximize(
    tables: Sequence[_Table],
    shares: Sequence[float],
    prior: _Numbers,
    free: npt.NDArray[np.bool_],
) -> _Numbers:
    """The weights of maximum penalised likelihood; those that are not free keep their prior."""
    told = [pair for pair in zip(tables, shares, strict=True) if pair[0].is_contested]

    def measure(moved: _Numbers) -> tuple[float, _Numbers]:
        weights = prior.copy()
        weights[free] += moved
        loss, slope = 0.0, np.zeros_like(prior)
        for table, share in told:
            one, its_slope = table.measure_loss(weights)
            loss += share * one
            slope += share * its_slope
        return loss + PENALTY / 2 * float(moved @ moved), slope[free] + PENALTY * moved

    found = minimize(measure, np.zeros(int(free.sum())), jac=True, method="L-BFGS-B")
    weights = prior.copy()
    weights[free] += found.x
    return weights


def _count_questions(ballots: Sequence[Ballot], names: Sequence[str]) -> Mapping[str, int]:
    """In how many questions the mean strength of each term differs between right and wrong."""
    told: dict[str, set[tuple[str, str]]] = {name: set() for name in names}
    for ballot in ballots:
        if not ballot.is_contested:
            continue
        sides: tuple[list[Option], list[Option]] = ([], [])
        for option in ballot.options:
            sides[option.group in ballot.right].append(option)
        for name in {name for option in ballot.options for name in option.strengths}:
            means = [
                sum(option.strengths.get(name, 0.0) for option in side) / len(side)
                for side in sides
            ]
            if not math.isclose(*means, abs_tol=1e-6):
                told[name].add((ballot.database, ballot.question))
    return {name: len(questions) for name, questions in told.items()}


def main() -> None:
    """Fits, prints the figures of each run and each term, and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, default=Path("points.json"))
    parser.add_argument("--folds", type=int, default=10)
    asked = parser.parse_args()
    found = {folder: collect_ballots(read_run(folder)[1]) for folder in asked.runs}
    ballots = [ballot for each in found.values() for ballot in each]
    served = json.loads(POINTS.read_text("utf-8"))["terms"]
    before = {name: TermPoints(**fields) for name, fields in served.items()}
    fit = fit_score(ballots, before, asked.folds)
    start = 0
    for folder, each in found.items():
        marks = [_number(told[start : start + len(each)]) for told in (fit.before, fit.after)]
        shares = [f"{estimate([*map(float, told.values())]).value:.1%}" for told in marks]
        pair = compare_marks("before", marks[0], "after", marks[1])
        flips = f"{len(pair.gained)} gained, {len(pair.lost)} lost"
        print(f"{folder.name}: {shares[0]} by the points that serve, {shares[1]} fitted; {flips}")
        start += len(each)
    for name, term in fit.points.items():
        if not term.fixed:
            figures = f"prior {term.prior:+.1f}, points {term.points:+.1f}"
            print(f"{name}: {figures}, {term.questions} questions")
    provenance = {
        "command": f"python -m bench.fit_score {' '.join(folder.name for folder in asked.runs)}",
        "benchmarks": sorted({read_run(folder)[0].benchmark for folder in asked.runs}),
        "databases": len({ballot.database for ballot in ballots}),
        "questions": len({(ballot.database, ballot.question) for ballot in ballots}),
        "answers": len(ballots),
        "contested": sum(ballot.is_contested for ballot in ballots),
        "date": datetime.now(UTC).date().isoformat(),
        "folds": asked.folds,
        "right_out_of_fold": round(sum(fit.after) / len(ballots), 4),
    }
    value = json.dumps(render_points(fit.points, provenance), indent=1)
    asked.output.write_text(f"{value}\n", encoding="utf-8")


def _number(marks: Sequence[bool]) -> dict[str, bool]:
    return {str(at): mark for at, mark in enumerate(marks)}


if __name__ == "__main__":
    main()
