"""Turns features into a probability with a logistic model from a JSON file.

``quorumsql eval calibrate`` fits the model and writes the file
(``evaluation/metrics/calibration_fit.py``); files for known models are packaged here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from nl2sql.errors import SettingsError

AUTO, NONE = "auto", "none"
# The features that are shares of all samples.
_SHARES = ("agreement", "margin", "executes")
_NOT_IN_NAME = re.compile(r"[^a-z0-9.]+")


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

    def estimate(self, features: tuple[tuple[str, float], ...]) -> float | None:
        """The probability that the winner is right; None without samples.

        An unknown feature counts as its mean. Samples that are missing to the fewest that were
        fitted count as ones without a result, so fewer samples never make an answer surer
        (docs/lab/answers.md); more than were fitted count as the most.
        """
        known = dict(features)
        if "samples" not in known:
            return None
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


def load_calibration(choice: str, model: str) -> Calibration | None:
    """The calibration of the settings; ``auto`` is the packaged one for ``model``, if there is one.

    Raises SettingsError for a file that cannot be read.
    """
    if choice == NONE:
        return None
    if choice == AUTO:
        packaged = files(__package__).joinpath(f"{name_file(model)}.json")
        return parse_calibration(packaged.read_text("utf-8")) if packaged.is_file() else None
    try:
        return parse_calibration(Path(choice).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"ranking.calibration: {choice} is not a calibration ({error}).",
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


def name_file(model: str) -> str:
    """The name of a model as a file name, without folders and quantisation.

    >>> name_file("Qwen/Qwen2.5-Coder-0.5B-Instruct")
    'qwen2.5-coder-0.5b-instruct'
    """
    return _NOT_IN_NAME.sub("-", model.rstrip("/").rsplit("/", 1)[-1].lower()).strip("-")
