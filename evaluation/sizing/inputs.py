"""What a simulation is given: an engine's profile, the costs of questions, when they arrive."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evaluation.metrics.metrics import MODEL_STAGES
from evaluation.runs.records import QuestionRecord
from nl2sql.errors import SettingsError
from nl2sql.yaml_file import read_yaml

_FOLDER = Path(__file__).parent / "engines"
_DEMO = Path(__file__).with_name("demo_questions.json")
_UNKNOWN_ROOM = 1_000_000_000
# The stages before the model is asked.
_FIRST_STAGES = frozenset({"rewrite", "retrieve", "gate", "draft", "plan"})


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
    max_requests: int = Field(1_000_000, ge=1)

    @field_validator("step_ms")
    @classmethod
    def _sort_steps(cls, steps: Mapping[int, float]) -> Mapping[int, float]:
        if min(steps) < 1 or min(steps.values()) <= 0:
            raise ValueError("numbers of sequences and milliseconds must be positive")
        return dict(sorted(steps.items()))

    @model_validator(mode="after")
    def _check_capacity(self) -> Self:
        times = [self.step_s(count) for count in range(1, self.max_sequences + 1)]
        if any(later < earlier for earlier, later in pairwise(times)):
            raise ValueError("a step with more sequences must not be faster")
        return self

    def step_s(self, sequences: int) -> float:
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
class SamplingCost:
    """The tokens of one request: of its prompt, of each answer, and the number of answers."""

    prompt_tokens: int
    answer_tokens: float
    k: int

    @property
    def kv_tokens(self) -> float:
        """Tokens in the cache when all answers are complete."""
        return self.prompt_tokens + self.k * self.answer_tokens


@dataclass(frozen=True, slots=True)
class QuestionCost:
    """What one question needs, in order: processor, model, processor, database (seconds)."""

    cpu_before_s: float
    sampling: SamplingCost
    cpu_after_s: float
    database_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        """Seconds of processor time in the ingress."""
        return self.cpu_before_s + self.cpu_after_s


Workload = tuple[QuestionCost, ...]
"""Questions to draw from."""


def read_demo(*, cpu_before_ms: float, cpu_after_ms: float, database_ms: float) -> Workload:
    """The tokens of the demo's 40 questions as measured, each with the given mean times.

    The tokens are those of Qwen2.5-Coder-0.5B with K=4 (``eval run``, 23 November 2026).
    """
    before, after, database = cpu_before_ms / 1000, cpu_after_ms / 1000, database_ms / 1000
    return tuple(
        QuestionCost(
            before,
            SamplingCost(found["prompt"], found["answers"] / found["k"], found["k"]),
            after,
            database,
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
    stages = {name: ms for name, ms in record.stages_ms.items() if name not in left_out}
    before = sum(ms for name, ms in stages.items() if name in _FIRST_STAGES)
    after = max(0.0, sum(stages.values()) - before - database_ms)
    # Where some answers were given up, fewer are in the vote than were asked for.
    k = max(record.k, int(record.trace.get("wanted") or 0))
    return QuestionCost(
        before / 1000,
        SamplingCost(record.prompt_tokens, record.completion_tokens / k, k),
        after / 1000,
        database_ms / 1000,
    )


def draw_arrivals(per_minute: float, seconds: float, seed: int = 0) -> tuple[float, ...]:
    """The times of a Poisson process in that many seconds, in seconds."""
    random = Random(f"arrivals {seed}")
    rate = per_minute / 60
    times: list[float] = []
    now = random.expovariate(rate)
    while now < seconds:
        times.append(now)
        now += random.expovariate(rate)
    return tuple(times)
