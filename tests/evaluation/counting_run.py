"""A run of a hundred questions over fakes, for the test that kills it.

``python -m tests.evaluation.counting_run FOLDER PAUSE_S`` asks them with a pause for each.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from evaluation.metrics.judge import Judge, SystemResponse
from evaluation.runs.run_folder import RunFolder
from evaluation.runs.runner import run_questions
from nl2sql.types import Question, ResultSet
from tests.evaluation.builders import (
    build_body,
    build_candidate,
    build_example,
    build_manifest,
)
from tests.fakes import SHOP, FakeCatalogs, FakeGuard, build_result
from tests.fakes import FakeExecutor as QueuedExecutor

COUNT = 100
EXAMPLES = tuple(build_example(f"q{number}") for number in range(COUNT))
MANIFEST = build_manifest(*(example.id for example in EXAMPLES), concurrency=4)


class OneExecutor(QueuedExecutor):
    """Every query gives the same row."""

    async def execute(self, query: object, max_rows: int, limits: object = None) -> ResultSet:
        """One row with 1 in it."""
        return build_result((1,))


async def run(folder: Path, pause_s: float) -> None:
    """Asks what is left; every third answer is wrong."""

    async def ask(question: Question) -> SystemResponse:
        await asyncio.sleep(pause_s)
        value = 0 if question.text.endswith(("0?", "3?", "6?")) else 1
        body = build_body(build_candidate("c1", f"SELECT {value}"))
        return SystemResponse(body, {"c1": build_result((value,))})

    judge = Judge(FakeCatalogs(SHOP), FakeGuard(), OneExecutor())
    written = RunFolder(folder, MANIFEST)
    with written.open():
        await run_questions(EXAMPLES, ask, judge, written, max_rows=10)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), float(sys.argv[2])))
