"""Turns features into a probability with a logistic model from a JSON file.

``quorumsql eval calibrate`` fits the model and writes the file
(``evaluation/metrics/calibration_fit.py``). The packaged one holds for every model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from nl2sql.errors import SettingsError

PACKAGED = files(__package__).joinpath("calibration.json")
"""The calibration that is used unless the settings name a file."""

# The features that are shares of all samples.
_SHARES = ("agreement", "executes")


@dataclass(frozen=True, slots=True)
class Weight:
    """One feature's term: ``weight`` times (value - ``mean``) / ``scale``."""

    feature: str
    mean: float
    scale: float
    weight: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model, fitted to rankings of ``fewest`` to ``most`` samples.

    An answer with a confidence below ``threshold`` should not be given.

    >>> model = Calibration(0.0, (Weight("agreement", 0.5, 0.25, 1.0),), fewest=1, most=8)
    >>> model.estimate((("agreement", 0.5), ("samples", 2.0)))
    0.5
    """

    intercept: float
    weights: tuple[Weight, ...]
    fewest: int
    most: int
    threshold: float = 0.0

    def estimate(self, features: tuple[tuple[str, float], ...]) -> float:
        """The probability that the winner is right; 0 without samples.

        An unknown feature counts as its mean. Samples that are missing to the fewest that were
        fitted count as ones without a result, so fewer samples never make an answer surer
        (docs/lab/answers.md); more than were fitted count as the most.
        """
        known = dict(features)
        if "samples" not in known:
            return 0.0
        samples = round(2 ** known["samples"])
        fitted = max(self.fewest, min(self.most, samples))
        known["samples"] = math.log2(fitted)
        if samples < fitted:
            known |= {name: known[name] * samples / fitted for name in _SHARES if name in known}
        total = self.intercept + sum(
            weight.weight * (known.get(weight.feature, weight.mean) - weight.mean) / weight.scale
            for weight in self.weights
        )
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 4)


def load_calibration(file: Traversable = PACKAGED) -> Calibration:
    """The calibration in a file. Raises SettingsError if it cannot be read."""
    try:
        return parse_calibration(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"ranking.calibration: {file} is not a calibration ({error}).",
            hint="Write one with `quorumsql eval calibrate RUN --output FILE`.",
        ) from error


def parse_calibration(text: str) -> Calibration:
    """The calibration in a JSON text. Raises ValueError, KeyError, TypeError."""
    value: Mapping[str, Any] = json.loads(text)
    return Calibration(
        intercept=float(value["intercept"]),
        weights=tuple(
            Weight(name, float(fields["mean"]), float(fields["scale"]), float(fields["weight"]))
            for name, fields in value["features"].items()
        ),
        fewest=int(value["samples"][0]),
        most=int(value["samples"][1]),
        threshold=float(value["threshold"]),
    )
