"""Asks a system the questions of a run, many at a time, and writes a record of each.

The system is a function from a question to a response: the pipeline or a baseline. Knows
nothing of its implementation or of ray.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from data.benchmarks.types import Example
from evaluation.metrics.judge import Judge, SystemResponse
from evaluation.runs.records import QuestionRecord
from evaluation.runs.run_folder import RunFolder, read_run
from nl2sql.concurrency import gather_all
from nl2sql.errors import QuorumError, Unavailable
from nl2sql.settings.pipeline import MOST_ADAPTIVE_K
from nl2sql.types import Question

Ask = Callable[[Question], Awaitable[SystemResponse]]
Progress = Callable[[int, int, int], None]


async def run_questions(
    examples: Sequence[Example],
    ask: Ask,
    judge: Judge,
    run: RunFolder,
    *,
    max_rows: int,
    progress: Progress = lambda done, total, correct: None,
) -> None:
    """Asks the remaining questions of the run, ``concurrency`` at a time.

    Calls ``progress(done, total, correct)`` after each; questions of earlier sessions count as
    done. Raises Unavailable when the system or a database stops answering: records are kept, and
    the next call continues. The run must be open.
    """
    done = run.done()
    pending = iter([example for example in examples if example.id not in done])
    counts = [len(done), sum(record.correct for record in read_run(run.folder)[1])]
    progress(counts[0], len(examples), counts[1])

    async def work() -> None:
        for example in pending:
            record = await _ask_one(example, ask, judge, run, max_rows)
            run.append(record)
            counts[0] += 1
            counts[1] += record.correct
            progress(counts[0], len(examples), counts[1])

    # The first failure cancels the others, whose questions are asked again when the run continues.
    await gather_all(work() for _ in range(run.manifest.concurrency))


async def _ask_one(
    example: Example,
    ask: Ask,
    judge: Judge,
    run: RunFolder,
    max_rows: int,
) -> QuestionRecord:
    manifest = run.manifest

    async def describe_failure(reason: str, seconds: float) -> QuestionRecord:
        most = MOST_ADAPTIVE_K if manifest.k == "adaptive" else manifest.k
        return await judge.describe_failure(
            example, evidence=manifest.evidence, k=most, reason=reason, seconds=seconds
        )

    gold = await judge.gold(example)
    if gold.error:
        return await describe_failure("", 0.0)
    question = Question(
        text=example.question,
        database=example.database,
        principal=judge.principal,
        k=manifest.k,
        seed=manifest.seed,
        max_rows=max_rows,
        evidence=example.evidence if manifest.evidence else "",
    )
    start = time.perf_counter()
    try:
        response = await ask(question)
    except Unavailable:
        raise
    except QuorumError as error:
        # An error of this question: it counts as wrong and is listed.
        return await describe_failure(str(error), time.perf_counter() - start)
    seconds = time.perf_counter() - start
    return await judge.judge(example, response, evidence=manifest.evidence, seconds=seconds)
