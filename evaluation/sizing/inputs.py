"""What an estimate is given: an engine's profile, and the costs of questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evaluation.metrics.metrics import MODEL_STAGES
from evaluation.runs.records import QuestionRecord
from nl2sql.errors import SettingsError
from nl2sql.yaml_file import read_yaml

_FOLDER = Path(__file__).parent / "engines"
_DEMO = Path(__file__).with_name("demo_questions.json")
_UNKNOWN_ROOM = 1_000_000_000


class EngineProfile(BaseModel):
    """The speed and the limits of one engine replica.

    ``step_ms`` is the milliseconds of one token of every sequence, by the number of sequences;
    between two numbers it is interpolated, beyond them the last slope continues. ``cached_share``
    is the part of a prompt that is in the prefix cache. ``kv_tokens`` is the room of the KV cache,
    unlimited unless it is given. ``source`` says where the figures are from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    source: str
    gpus: int = Field(1, ge=0)
    prompt_tokens_per_s: float = Field(gt=0)
    cached_share: float = Field(0.0, ge=0, le=1)
    step_ms: Mapping[int, float] = Field(min_length=1)
    max_sequences: int = Field(256, ge=1)
    kv_tokens: int = Field(_UNKNOWN_ROOM, gt=0)

    @field_validator("step_ms")
    @classmethod
    def _sort_steps(cls, steps: Mapping[int, float]) -> Mapping[int, float]:
        if min(steps) < 1 or min(steps.values()) <= 0:
            raise ValueError("numbers of sequences and milliseconds must be positive")
        return dict(sorted(steps.items()))

    @model_validator(mode="after")
    def _check_capacity(self) -> Self:
        if any(later < earlier for earlier, later in pairwise(self.step_ms.values())):
            raise ValueError("a step with more sequences must not be faster")
        return self

    def step_s(self, sequences: float) -> float:
        """Seconds of a step with that many sequences.

        >>> profile = EngineProfile(name="a", source="", kv_tokens=1,
        ...     prompt_tokens_per_s=1, step_ms={1: 10, 5: 14})
        >>> [round(1000 * profile.step_s(count), 3) for count in (1, 3, 9)]
        [10.0, 12.0, 18.0]
        """
        points = list(self.step_ms.items())
        if sequences <= points[0][0] or len(points) == 1:
            return points[0][1] / 1000
        for (low, fast), (high, slow) in pairwise(points):
            slope = (slow - fast) / (high - low)
            if sequences <= high:
                break
        return (fast + slope * (sequences - low)) / 1000


def list_profiles() -> tuple[str, ...]:
    """The names of the profiles that come with the product."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def read_profile(name: str) -> EngineProfile:
    """A profile that comes with the product, by its name, or that of a YAML file.

    Raises SettingsError.
    """
    shipped = name in list_profiles()
    if not shipped and not name.endswith((".yaml", ".yml")):
        raise SettingsError(
            f"There is no engine profile {name!r}.",
            hint=f"Known: {', '.join(list_profiles())}. Or name a YAML file.",
        )
    path = _FOLDER / f"{name}.yaml" if shipped else Path(name)
    value = read_yaml(path, called="engine profile")
    try:
        return EngineProfile.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"The engine profile {path}: {key} {first['msg']}.") from error


@dataclass(frozen=True, slots=True)
class QuestionCost:
    """What one question needs: seconds of processor and database, tokens, and K answers.

    ``answer_tokens`` are those of each answer.
    """

    cpu_s: float
    prompt_tokens: int
    answer_tokens: float
    k: int
    database_s: float = 0.0


Workload = tuple[QuestionCost, ...]
"""The questions of a load, each as frequent as the others."""


def read_demo(*, cpu_ms: float, database_ms: float) -> Workload:
    """The tokens of the demo's 40 questions as measured, each with the given mean times.

    The tokens are those of Qwen2.5-Coder-0.5B with K=4 (``eval run``, 23 November 2026).
    """
    return tuple(
        QuestionCost(
            cpu_ms / 1000,
            found["prompt"],
            found["answers"] / found["k"],
            found["k"],
            database_ms / 1000,
        )
        for found in json.loads(_DEMO.read_text(encoding="utf-8"))
    )


def build_workload(records: Sequence[QuestionRecord], *, database_ms: float = 0.0) -> Workload:
    """The costs of a run's questions that reached the model; others are left out.

    The wall time of a stage counts as processor time, without ``database_ms`` a question: an upper
    bound, which is close for a run with ``--concurrency 1`` on an idle machine. The repair stage is
    left out where the model repairs, since its time is then the model's. The tokens of one question
    are those of all its requests, divided equally among K answers. Raises SettingsError if no
    question has stage times and tokens.
    """
    found = tuple(
        _read_cost(record, database_ms)
        for record in records
        if record.stages_ms and record.prompt_tokens and record.completion_tokens
    )
    if not found:
        raise SettingsError(
            "No question of the run has stage times and tokens.",
            hint="Runs of `eval run` have them; the plain baseline has none.",
        )
    return found


def _read_cost(record: QuestionRecord, database_ms: float) -> QuestionCost:
    left_out = set(MODEL_STAGES)
    if not any(repair.method == "model" for repair in record.repairs):
        left_out.discard("repair")
    busy_ms = sum(ms for name, ms in record.stages_ms.items() if name not in left_out)
    # Where some answers were given up, fewer are in the vote than were asked for.
    k = max(record.k, int(record.trace.get("wanted") or 0))
    return QuestionCost(
        max(0.0, busy_ms - database_ms) / 1000,
        record.prompt_tokens,
        record.completion_tokens / k,
        k,
        database_ms / 1000,
    )
