"""The cost of questions: processor time, waits for the database, tokens. And when they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import BaseModel, ConfigDict, TypeAdapter

from evaluation.metrics.metrics import MODEL_STAGES
from evaluation.runs.records import QuestionRecord
from evaluation.sizing.engine import SamplingCost
from nl2sql.errors import SettingsError

_DEMO = Path(__file__).with_name("demo_questions.json")
# The stages before the model is asked.
_FIRST_STAGES = frozenset({"rewrite", "retrieve", "gate", "draft", "plan"})


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


class _Tokens(BaseModel):
    """Prompt tokens, tokens of all answers together, and K of one question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: int
    answers: int
    k: int


def read_demo(*, cpu_before_ms: float, cpu_after_ms: float, database_ms: float) -> Workload:
    """The tokens of the demo's 40 questions as measured, each with the given mean times.

    The tokens are those of Qwen2.5-Coder-0.5B with K=4 (``eval run``, 23 November 2026).
    """
    tokens = TypeAdapter(tuple[_Tokens, ...]).validate_json(_DEMO.read_bytes())
    times = (cpu_before_ms / 1000, cpu_after_ms / 1000, database_ms / 1000)
    return tuple(
        QuestionCost(
            times[0],
            SamplingCost(found.prompt, found.answers / found.k, found.k),
            times[1],
            times[2],
        )
        for found in tokens
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


Workload = tuple[QuestionCost, ...]
"""Questions to draw from."""
