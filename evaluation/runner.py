"""Runs a benchmark through a service's ``POST /query`` and compares results with the gold's.

Gold queries run through the same guard and executor as everything else, so a gold that the guard
refuses is counted, not hidden. Comparison: ``nl2sql.equivalence``, row order only where the gold
has a top-level ORDER BY. Knows nothing of ray or of how the service is made.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlglot

from evaluation.benchmark import Example
from evaluation.metrics import Outcome
from nl2sql.equivalence import are_equivalent
from nl2sql.protocols import Executor, Guard
from nl2sql.types import Diagnostic, Principal, ResultSet, Violation
from nl2sql.values import to_json_value

# POST /query's body in, its answer out; raises QuorumError.
Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

_MOST_ROWS = 1000
_PRINCIPAL = Principal("evaluation")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """``concurrency`` questions are in flight at once."""

    k: int
    seed: int = 0
    concurrency: int = 1


async def run_benchmark(
    examples: Sequence[Example],
    ask: Ask,
    guard: Guard,
    executor: Executor,
    options: RunOptions,
    *,
    output: Path | None = None,
    progress: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """One outcome an example, in the examples' order; with ``output``, a JSON line each too.

    Raises Unavailable when the service or a database stops answering.
    """
    slots = asyncio.Semaphore(options.concurrency)
    lines: list[str] = []

    async def run(example: Example) -> Outcome:
        async with slots:
            gold = await _run_gold(example, guard, executor)
            start = time.perf_counter()
            answer = await ask(
                {
                    "question": example.question,
                    "database": example.database,
                    "k": options.k,
                    "seed": options.seed,
                    "max_rows": _MOST_ROWS,
                    "trace": True,
                }
            )
            seconds = time.perf_counter() - start
        outcome = judge(example, answer, gold, seconds)
        lines.append(json.dumps({**asdict(outcome), "gold": example.query, "answer": answer}))
        progress(outcome)
        return outcome

    outcomes = await asyncio.gather(*(run(example) for example in examples))
    if output is not None:
        text = "\n".join(lines) + "\n"
        await asyncio.to_thread(output.write_text, text, encoding="utf-8")
    return list(outcomes)


def judge(
    example: Example, answer: dict[str, Any], gold: ResultSet | str, seconds: float
) -> Outcome:
    """The outcome of one answer against the gold's result (or the text of its error)."""
    executes = answer["outcome"] == "answered"
    correct = False
    if executes and not isinstance(gold, str):
        correct = are_equivalent(
            [[to_json_value(value) for value in row] for row in gold.rows],
            answer["rows"],
            ordered=has_top_level_order(example.query),
        )
    return Outcome(
        id=example.id,
        outcome=answer["outcome"],
        executes=executes,
        correct=correct,
        seconds=round(seconds, 3),
        difficulty=example.difficulty,
        sql=answer.get("sql", ""),
        gold_error=gold if isinstance(gold, str) else "",
        gold_rows=0 if isinstance(gold, str) else len(gold.rows),
        stages={stage["stage"]: stage["ms"] for stage in answer["trace"]["stages"]},
    )


def has_top_level_order(sql: str, dialect: str = "postgres") -> bool:
    """True when the outermost query orders its rows.

    >>> has_top_level_order("SELECT x FROM (SELECT x FROM t ORDER BY x) AS s")
    False
    """
    return bool(sqlglot.parse_one(sql, dialect=dialect).args.get("order"))


async def _run_gold(example: Example, guard: Guard, executor: Executor) -> ResultSet | str:
    verdict = await guard.guard(example.database, example.query, _PRINCIPAL)
    if isinstance(verdict, Violation):
        return f"refused by the guard: {verdict.code}: {verdict.message}"
    result = await executor.execute(verdict, _MOST_ROWS)
    return result.message if isinstance(result, Diagnostic) else result
