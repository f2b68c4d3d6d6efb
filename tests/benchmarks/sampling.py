"""Measures the cost of more candidates: one question's time by K, and concurrent questions.

``python -m tests.benchmarks.sampling BENCHMARK [--sample 20] [--ks 1,2,4,8,16] [--at-once 16]
[--k 4] [--config quorumsql.yaml] [--json FILE]``: the whole pipeline in this process with the
configured model. Every question is asked with every K, in an order that rotates from question to
question, so that the figures are paired. Then ``--at-once`` questions, with ``--k`` candidates
each, first one after another, then all at the same time.

``cold`` is a question whose prompt shares no beginning with earlier ones, as after a start or in a
service of many databases: a unique line is put before it. ``warm`` is the same question asked
again, with its prompt in the engine's prefix cache. Other load on the machine makes every figure
too high.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from data.benchmarks.load import load_benchmark
from evaluation.metrics.figures import Estimate
from evaluation.metrics.statistics import estimate, percentile
from nl2sql.protocols import Answerer, Engine
from nl2sql.settings import load_settings
from nl2sql.types import Completions, Message, Principal, Prompt, Question, SamplingRequest
from serve_app.composition.local import open_parts
from serve_app.operations.benchmarks import prepare_benchmark, select
from serve_app.operations.measuring import draw_sample
from serve_app.reporting import Silence

KS = (1, 2, 4, 8, 16)
_STATES = ("cold", "warm")


class MarkedEngine:
    """An engine whose prompts begin with a line that ``mark_anew`` changes.

    All these lines are equally long, also in tokens if the tokenizer splits digits, as Qwen's does.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._number = 0

    def mark_anew(self) -> None:
        """From now on, prompts share no beginning with earlier ones."""
        self._number += 1

    async def sample(self, request: SamplingRequest) -> Completions:
        """The engine's answer to the marked prompt."""
        first, *rest = request.prompt.messages
        marked = Message(first.role, f"{self._number:06d}\n{first.content}")
        prompt = Prompt(request.prompt.purpose, (marked, *rest))
        return await self._engine.sample(replace(request, prompt=prompt))

    async def speed(self) -> None:
        """Unknown."""

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The engine's own counts."""
        return await self._engine.count_tokens(texts)


@dataclass(frozen=True, slots=True)
class KTime:
    """Seconds of a question with ``k`` candidates, and their ratio to those with the first K."""

    k: int
    state: str
    p50_s: float
    p95_s: float
    generate_p50_s: float
    ratio: Estimate
    completion_tokens: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """``questions`` with ``k`` candidates each, and the speed-up of asking them concurrently."""

    questions: int
    k: int
    one_by_one_s: float
    at_once_s: float

    @property
    def speedup(self) -> float:
        """The concurrent rate over the sequential rate."""
        return self.one_by_one_s / self.at_once_s


@dataclass(frozen=True, slots=True)
class _Timed:
    seconds: float
    generate_s: float
    completion_tokens: int


async def measure_ks(
    answerer: Answerer, engine: MarkedEngine, questions: Sequence[Question], ks: Sequence[int]
) -> list[KTime]:
    """Asks every question with every K, cold and then warm; ratios are to the first K."""
    times: dict[tuple[int, str], list[_Timed]] = {(k, state): [] for k in ks for state in _STATES}
    for at, question in enumerate(questions):
        turn = at % len(ks)
        for k in (*ks[turn:], *ks[:turn]):
            engine.mark_anew()
            for state in _STATES:
                times[k, state].append(await _time(answerer, replace(question, k=k)))
    return [_summarize(k, state, times) for state in _STATES for k in ks]


async def measure_throughput(
    answerer: Answerer, engine: MarkedEngine, questions: Sequence[Question], k: int
) -> Throughput:
    """Asks one after another, then all concurrently; both cold."""
    asked = [replace(question, k=k) for question in questions]
    engine.mark_anew()
    start = time.perf_counter()
    for question in asked:
        await answerer.answer(question)
    one_by_one = time.perf_counter() - start
    engine.mark_anew()
    start = time.perf_counter()
    await asyncio.gather(*map(answerer.answer, asked))
    return Throughput(len(asked), k, one_by_one, time.perf_counter() - start)


async def _time(answerer: Answerer, question: Question) -> _Timed:
    start = time.perf_counter()
    answer = await answerer.answer(question)
    seconds = time.perf_counter() - start
    stages = answer.trace.timings
    return _Timed(
        seconds,
        sum(stage.ms for stage in stages if stage.stage == "generate") / 1000,
        sum(stage.completion_tokens for stage in stages),
    )


def _summarize(k: int, state: str, times: Mapping[tuple[int, str], Sequence[_Timed]]) -> KTime:
    own, base = times[k, state], times[next(iter(times))[0], state]
    seconds = [each.seconds for each in own]
    pairs = zip(own, base, strict=True)
    return KTime(
        k,
        state,
        percentile(seconds, 50),
        percentile(seconds, 95),
        percentile([each.generate_s for each in own], 50),
        estimate([each.seconds / first.seconds for each, first in pairs]),
        estimate([each.completion_tokens for each in own]).value,
    )


def render_ks(rows: Sequence[KTime]) -> str:
    """The table of K, as Markdown."""
    lines = [
        "| K | prompt | p50, s | p95, s | generating, s | to the first K (95 %) | tokens written |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.k} | {row.state} | {row.p50_s:.2f} | {row.p95_s:.2f} | {row.generate_p50_s:.2f} "
        f"| {row.ratio.value:.2f} ({row.ratio.low:.2f} to {row.ratio.high:.2f}) "
        f"| {row.completion_tokens:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def render_throughput(row: Throughput) -> str:
    """One line about many questions."""
    return (
        f"{row.questions} questions with K={row.k}: {row.one_by_one_s:.1f} s one after another, "
        f"{row.at_once_s:.1f} s at once, {row.speedup:.2f} times the rate"
    )


def render_json(rows: Sequence[KTime], throughput: Throughput) -> str:
    """All figures."""
    found = {
        "ks": [asdict(row) for row in rows],
        "throughput": {**asdict(throughput), "speedup": throughput.speedup},
    }
    return json.dumps(found, indent=1)


async def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark")
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--ks", default=",".join(map(str, KS)))
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--k", type=int, default=4)
    parser.add_argument("--config", type=Path, default=Path("quorumsql.yaml"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    settings = load_settings(asked.config)
    benchmark = load_benchmark(asked.benchmark, configured=settings.databases)
    drawn = draw_sample(benchmark, max(asked.sample, asked.at_once), settings.sampling.seed)
    chosen = select(benchmark, [example.id for example in drawn])
    ready = await prepare_benchmark(settings, chosen, Silence())
    local = Principal("benchmark", settings.identity.principal().roles)
    questions = [
        Question(example.question, example.database, local, 1, settings.sampling.seed, max_rows=100)
        for example in drawn
    ]
    async with open_parts(ready.wiring, Silence()) as opened:
        engine = MarkedEngine(opened.engine)
        answerer = replace(opened, engine=engine).build_pipeline(ready.wiring.settings)
        # Loads connections, indexes and the engine before the measurement.
        await answerer.answer(questions[0])
        ks = [int(k) for k in asked.ks.split(",")]
        rows = await measure_ks(answerer, engine, questions[: asked.sample], ks)
        print(render_ks(rows), flush=True)
        throughput = await measure_throughput(answerer, engine, questions[: asked.at_once], asked.k)
        print(f"\n{render_throughput(throughput)}")
    if asked.json:
        asked.json.write_text(render_json(rows, throughput), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
