"""The benchmark asks the questions that it claims to; times are not tested."""

from __future__ import annotations

import json

from nl2sql.answers import Answer, Failed, StageTiming, Trace
from nl2sql.types import Message, Prompt, Question, SamplingRequest
from tests.benchmarks.sampling import (
    MarkedEngine,
    measure_ks,
    measure_throughput,
    render_json,
    render_ks,
    render_throughput,
)
from tests.fakes import FakeEngine, build_question

QUESTIONS = [build_question(text=f"Question {number}?") for number in range(3)]


class StubAnswerer:
    """Samples once for every question, and answers nothing."""

    def __init__(self, engine: MarkedEngine) -> None:
        self._engine = engine
        self.asked: list[tuple[str, int]] = []

    async def answer(self, question: Question) -> Answer:
        """One request; ten tokens a candidate."""
        self.asked.append((question.text, question.k))
        messages = (Message("system", "Write SQL."), Message("user", question.text))
        await self._engine.sample(
            SamplingRequest(Prompt("generate", messages), question.k, 0, 0.0, 9)
        )
        timings = (StageTiming("generate", 5.0, 100, 10 * question.k), StageTiming("vote", 1.0))
        return Failed("stub", Trace(question, timings=timings))


def build_answerer(requests: int) -> tuple[StubAnswerer, MarkedEngine, FakeEngine]:
    engine = FakeEngine(*[["SELECT 1"]] * requests)
    marked = MarkedEngine(engine)
    return StubAnswerer(marked), marked, engine


async def test_every_question_is_asked_with_every_k_cold_then_warm() -> None:
    answerer, marked, engine = build_answerer(requests=18)
    rows = await measure_ks(answerer, marked, QUESTIONS, [1, 4, 8])
    assert [(row.k, row.state) for row in rows] == [
        (k, state) for state in ("cold", "warm") for k in (1, 4, 8)
    ]
    assert [row.completion_tokens for row in rows[:3]] == [10, 40, 80]
    assert {row.generate_p50_s for row in rows} == {0.005}
    assert [row.ratio.value for row in rows if row.k == 1] == [1.0, 1.0]
    # The order of K rotates, so that none is always the first.
    assert [k for _, k in answerer.asked[::2]] == [1, 4, 8, 4, 8, 1, 8, 1, 4]
    starts = [request.prompt.messages[0].content for request in engine.requests]
    assert starts[::2] == starts[1::2]
    assert len(set(starts)) == 9
    assert len(set(map(len, starts))) == 1


async def test_many_questions_one_after_another_and_at_once() -> None:
    answerer, marked, engine = build_answerer(requests=6)
    found = await measure_throughput(answerer, marked, QUESTIONS, k=4)
    assert (found.questions, found.k) == (3, 4)
    assert [k for _, k in answerer.asked] == [4] * 6
    starts = [request.prompt.messages[0].content for request in engine.requests]
    assert not {*starts[:3]} & {*starts[3:]}
    assert found.speedup == found.one_by_one_s / found.at_once_s


async def test_a_table_and_json() -> None:
    answerer, marked, _ = build_answerer(requests=18)
    rows = await measure_ks(answerer, marked, QUESTIONS[:2], [1, 2])
    throughput = await measure_throughput(answerer, marked, QUESTIONS, k=2)
    table = render_ks(rows).splitlines()
    assert len(table) == 2 + len(rows)
    assert len({line.count("|") for line in table}) == 1
    assert "3 questions with K=2" in render_throughput(throughput)
    found = json.loads(render_json(rows, throughput))
    assert [row["k"] for row in found["ks"]] == [1, 2, 1, 2]
    assert found["throughput"]["speedup"] > 0
