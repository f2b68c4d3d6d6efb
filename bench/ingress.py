"""Measures the processor time of one question in the ingress, without the model.

``python -m bench.ingress [--rounds 5] [--questions N] [--config quorumsql.yaml]``: the demo's 40
questions, one after another, each as a ``POST /query`` to the ASGI application of the real
``Ingress`` with all CPU stages, as with ``serve.fuse_cpu_stages``. The model is a fake that waits
50 ms and then returns four texts.

Processor time is the whole process's, user and system, in all its threads, from the request to the
last byte of its answer. PostgreSQL's backends are other processes and not included, nor is Ray's
time for routing a request to the ingress. ``cold`` is the first time that a question is asked, with
everything else warmed up by other questions; ``warm`` are all later rounds. Each stage's share
comes from the pipeline's own clock, which reads processor time here; ``other`` is HTTP, JSON and
the work between the stages. Other load on the machine makes every figure too high, up to twice.

The four texts of a question are those of ``demo_answers.jsonl``, so runs on other revisions are
comparable. None, one or three of them are right; the others are gold queries damaged as by small
models:

- three right: quorum at once, so nothing is repaired;
- one right: no quorum, and those of the others that fail are repaired by rule;
- none right: the same, and often no candidate works in the end.

Each kind is a third of the questions: of the default model's answers to them, 22 % had a right
candidate and 55 % one that ran. The table of warm rounds shows the three kinds separately.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from starlette.types import ASGIApp

from evaluation.metrics.statistics import percentile
from nl2sql.pipeline.stages import StageClock
from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import prepare
from serve_app.ray.ingress import Ingress
from serve_app.reporting import SilentReporter
from serve_app.settings import load_settings
from tests.fakes import StubEngine
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope

K = 4
_ANSWERS = Path(__file__).with_name("demo_answers.jsonl")
_ENGINE_S = 0.05
_OTHER = "other"
_RIGHT = "right"
_RIGHTS = (3, 1, 0)
_WARM_UP = ("How many suppliers are there?", "List the names of all warehouses.")


class FakeModel(StubEngine):
    """Returns the given texts of the question after 50 ms."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self.asked = ""
        self._texts = texts

    async def sample(self, request: SamplingRequest) -> Completions:
        """The texts of the question, as often as ``k`` asks."""
        await asyncio.sleep(_ENGINE_S)
        texts = self._texts[self.asked]
        drawn = tuple(texts[at % len(texts)] for at in range(request.k))
        return Completions(drawn, prompt_tokens=1000, completion_tokens=40 * request.k)


class FakeHandle:
    """Imitates the handle of an engine's deployment."""

    def __init__(self, model: FakeModel) -> None:
        self._model = model

    def options(self, **_: object) -> FakeHandle:
        """The same: the questions here have no observer, so nothing is streamed."""
        return self

    def __getattr__(self, method: str) -> Any:
        def remote(*arguments: Any, left_s: float | None = None) -> asyncio.Task[Any]:
            return asyncio.ensure_future(getattr(self._model, method)(*arguments))

        return SimpleNamespace(remote=remote)


@dataclass
class Round:
    """Milliseconds of processor time by stage, one mapping for each question, and the outcomes."""

    questions: list[dict[str, float]] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    def add(self, other: Round) -> None:
        """Appends the questions of another round."""
        self.questions += other.questions
        self.outcomes += other.outcomes

    def take(self, right: int) -> Round:
        """The questions with that many right texts."""
        return Round([question for question in self.questions if question[_RIGHT] == right])

    def summarize(self) -> dict[str, float]:
        """Median, 95th percentile and mean of whole questions, and each stage's share of it."""
        whole = [sum(_list_stages(question).values()) for question in self.questions]
        stages = dict.fromkeys(
            stage for question in self.questions for stage in _list_stages(question)
        )
        count = max(len(whole), 1)
        return {
            "p50": percentile(whole, 50),
            "p95": percentile(whole, 95),
            "mean": sum(whole) / count,
        } | {
            stage: sum(question.get(stage, 0.0) for question in self.questions) / count
            for stage in stages
        }


def _list_stages(times: Mapping[str, float]) -> dict[str, float]:
    return {stage: ms for stage, ms in times.items() if stage != _RIGHT}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="warm rounds after the cold one")
    parser.add_argument("--questions", type=int, help="only the first so many")
    parser.add_argument("--config", type=Path, default=Path("quorumsql.yaml"))
    asked = parser.parse_args()
    settings = load_settings(asked.config)
    wiring = asyncio.run(prepare(settings, SilentReporter(), databases=[settings.default_database]))
    texts = dict(itertools.islice(read_texts().items(), asked.questions))
    texts |= dict.fromkeys(_WARM_UP, next(iter(texts.values())))
    cold, warm = asyncio.run(_measure(wiring, texts, asked.rounds))
    print(render(cold, warm))


async def _measure(
    wiring: Wiring, texts: Mapping[str, Sequence[str]], rounds: int
) -> tuple[Round, Round]:
    """The cold round, and all warm ones together."""
    model = FakeModel(texts)
    # Built and asked in the same loop, as in a replica.
    app = Ingress(wiring, FakeHandle(model)).__serve_build_asgi_app__()
    questions = [question for question in texts if question not in _WARM_UP]
    await _ask_all(app, model, _WARM_UP)
    cold, warm = await _ask_all(app, model, questions), Round()
    for _ in range(rounds):
        warm.add(await _ask_all(app, model, questions))
    return cold, warm


async def _ask_all(app: ASGIApp, model: FakeModel, questions: Sequence[str]) -> Round:
    found = Round()
    for at, question in enumerate(questions):
        model.asked = question
        body = json.dumps({"question": question, "k": K}).encode()
        scope = build_scope("POST", "/query", (HOST, JSON))
        exchange = Exchange([body])
        with _reading_stages() as stages:
            start = time.process_time()
            await exchange.send_to(app, scope)
            whole = (time.process_time() - start) * 1000
        answer = json.loads(exchange.body)
        if exchange.status != 200:
            raise SystemExit(f"{question}: {answer}")
        found.outcomes.update([answer["outcome"]])
        (clock,) = stages
        told = {timing.stage: timing.ms for timing in clock.timings}
        rest = {_OTHER: whole - sum(told.values()), _RIGHT: _RIGHTS[at % len(_RIGHTS)]}
        found.questions.append(told | rest)
    return found


@contextmanager
def _reading_stages() -> Iterator[list[StageClock]]:
    """Collects the clocks of the questions asked inside it; they read processor time."""
    clocks: list[StageClock] = []

    def start_clock() -> StageClock:
        clocks.append(StageClock())
        return clocks[-1]

    reading = SimpleNamespace(perf_counter=time.process_time)
    with (
        patch("nl2sql.pipeline.stages.time", reading),
        patch("nl2sql.pipeline.pipeline.StageClock", start_clock),
    ):
        yield clocks


def read_texts() -> dict[str, tuple[str, ...]]:
    """Question → the model's ``K`` queries of different normal forms, in the demo's order."""
    lines = _ANSWERS.read_text(encoding="utf-8").splitlines()
    return {answer["question"]: tuple(answer["texts"]) for answer in map(json.loads, lines)}


def render(cold: Round, warm: Round) -> str:
    """The table as Markdown, in milliseconds of processor time per question."""
    summaries = {"cold": cold.summarize(), "warm": warm.summarize()}
    summaries |= {f"warm, {right} right": warm.take(right).summarize() for right in _RIGHTS}
    columns = list(dict.fromkeys(key for summary in summaries.values() for key in summary))
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, summary in summaries.items():
        cells = (f"{summary.get(column, 0.0):.1f}" for column in columns)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(cold.outcomes.items()))
    return "\n".join(
        [*lines, "", f"{len(cold.questions)} questions, {K} candidates each: {outcomes}"]
    )


if __name__ == "__main__":
    main()
