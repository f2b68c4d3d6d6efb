"""One engine replica with continuous batching, described by an ``EngineProfile``.

A prompt is read once for its K answers; meanwhile no answer grows (reading is bound by arithmetic,
writing by memory, and their times add up). Then all running sequences gain one token a step, and a
step's time depends on their number. A request that does not fit waits for those before it.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evaluation.sizing.events import Action, Clock, Event
from nl2sql.errors import SettingsError
from nl2sql.yaml_file import read_yaml

_FOLDER = Path(__file__).parent / "engines"


class EngineProfile(BaseModel):
    """The speed and the limits of one engine replica.

    ``step_ms`` is the milliseconds of one token of every sequence, by the number of sequences;
    between two numbers it is interpolated, beyond them the last slope continues. ``cached_share``
    is the part of a prompt that is in the prefix cache. ``source`` says where the figures are from,
    ``is_measured`` whether this project measured them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    source: str
    is_measured: bool
    gpus: int = Field(1, ge=0)
    prompt_tokens_per_s: float = Field(gt=0)
    cached_share: float = Field(0.0, ge=0, le=1)
    step_ms: Mapping[int, float] = Field(min_length=1)
    max_sequences: int = Field(256, ge=1)
    kv_tokens: int = Field(gt=0)
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

        >>> profile = EngineProfile(name="a", source="", is_measured=False, kv_tokens=1,
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


class EngineReplica:
    """Answers requests; ``present`` counts those that wait or run."""

    def __init__(self, clock: Clock, profile: EngineProfile) -> None:
        self._clock = clock
        self._profile = profile
        self._steps = [profile.step_s(count) for count in range(profile.max_sequences + 1)]
        self._waiting: deque[tuple[SamplingCost, Action]] = deque()
        # Tokens that a sequence running since the start would have; a request ends at a value of
        # it.
        self._tokens = 0.0
        self._updated = 0.0
        self._running: list[tuple[float, int, SamplingCost, Action]] = []
        self._orders = itertools.count()
        self._sequences = 0
        self._kv_tokens = 0.0
        self._is_reading = False
        self._next: Event | None = None
        self.present = 0
        self.busy_s = 0.0
        self.sequence_s = 0.0

    def sample(self, cost: SamplingCost, done: Action) -> None:
        """Calls ``done`` when all answers are complete."""
        self.present += 1
        self._waiting.append((cost, done))
        if not self._is_reading:
            self._continue()

    def _advance(self) -> None:
        elapsed = self._clock.now - self._updated
        self._updated = self._clock.now
        if self._is_reading:
            self.busy_s += elapsed
        elif self._running:
            self.busy_s += elapsed
            self.sequence_s += elapsed * self._sequences
            self._tokens += elapsed / self._step_s()

    def _step_s(self) -> float:
        return self._steps[min(self._sequences, len(self._steps) - 1)]

    def _continue(self) -> None:
        """Reads the next prompt if it fits; otherwise lets the answers grow."""
        self._advance()
        if self._next:
            self._next.cancel()
            self._next = None
        if self._waiting and self._fits(self._waiting[0][0]):
            self._is_reading = True
            cost, done = self._waiting.popleft()
            uncached = cost.prompt_tokens * (1 - self._profile.cached_share)
            seconds = uncached / self._profile.prompt_tokens_per_s
            self._clock.schedule(seconds, lambda: self._start(cost, done))
        elif self._running:
            left = max(0.0, self._running[0][0] - self._tokens)
            self._next = self._clock.schedule(left * self._step_s(), self._finish)

    def _fits(self, cost: SamplingCost) -> bool:
        # One that is larger than the whole replica runs alone.
        return not self._running or (
            len(self._running) < self._profile.max_requests
            and self._sequences + cost.k <= self._profile.max_sequences
            and self._kv_tokens + cost.kv_tokens <= self._profile.kv_tokens
        )

    def _start(self, cost: SamplingCost, done: Action) -> None:
        self._advance()
        self._is_reading = False
        end = self._tokens + cost.answer_tokens
        heapq.heappush(self._running, (end, next(self._orders), cost, done))
        self._sequences += cost.k
        self._kv_tokens += cost.kv_tokens
        self._continue()

    def _finish(self) -> None:
        self._next = None
        self._advance()
        end, _, cost, done = heapq.heappop(self._running)
        self._tokens = max(self._tokens, end)
        self._sequences -= cost.k
        self._kv_tokens -= cost.kv_tokens
        self.present -= 1
        self._continue()
        done()
