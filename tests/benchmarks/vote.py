"""Measures the vote on large results: its time, and by how much the event loop is late meanwhile.

``python -m tests.benchmarks.vote [--rows 1000] [--columns 100] [--most 100]``: the whole ranking of
candidates whose results are already there, of whole numbers below ``--most``. Each case is done
three times, and the one that took the least processor time is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence

from ranking.ranker import CandidateRanker
from tests.event_loop_watch import EventLoopWatch
from tests.fakes import FakeExecutor, FakeGuard, build_assessment, build_question, build_settings

Rows = tuple[tuple[int, ...], ...]
_TIMES = 3


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--most", type=int, default=100)
    asked = parser.parse_args()
    drawn = [_draw(seed, asked.rows, asked.columns, asked.most) for seed in range(32)]
    first = drawn[0]
    cases = {
        "8 different": drawn[:8],
        "8 equal": [_draw(0, asked.rows, asked.columns, asked.most) for _ in range(8)],
        "8 equal, rows shuffled": [_shuffle(first, seed) for seed in range(8)],
        "8 equal, columns permuted": [_shuffle(first, seed, columns=True) for seed in range(8)],
        "8 of the same columns, other rows": [_mix(first, seed) for seed in range(8)],
        "32 different": drawn,
    }
    print("| results | groups | vote, ms | computed, ms | loop late by, ms | of which own, ms |")
    print("|---|---|---|---|---|---|")
    for name, results in cases.items():
        found = [asyncio.run(_measure(results)) for _ in range(_TIMES)]
        groups, ms, computed_ms, watch = min(found, key=lambda each: each[2])
        late_ms, own_ms = max(watch.pauses_ms), max(watch.own_pauses_ms)
        print(
            f"| {name} | {groups} | {ms:.0f} | {computed_ms:.0f} | {late_ms:.0f} | {own_ms:.0f} |"
        )


async def _measure(results: Sequence[Rows]) -> tuple[int, float, float, EventLoopWatch]:
    """Groups, milliseconds of time and of this process's processor time, pauses of the loop."""
    ranker = CandidateRanker(FakeGuard(), FakeExecutor(), build_settings())
    assessments = tuple(
        build_assessment(f"c{at}", rows=rows) for at, rows in enumerate(results, start=1)
    )
    watch = EventLoopWatch()
    async with watch.watch():
        start, computed = time.perf_counter(), time.process_time()
        ranking = await ranker.rank(build_question(), assessments, samples=len(results))
        ms = (time.perf_counter() - start) * 1000
        computed_ms = (time.process_time() - computed) * 1000
    return len({each.group for each in ranking.assessments}), ms, computed_ms, watch


def _draw(seed: int, rows: int, columns: int, most: int) -> Rows:
    chance = random.Random(seed)
    return tuple(tuple(chance.choices(range(most), k=columns)) for _ in range(rows))


def _shuffle(rows: Rows, seed: int, *, columns: bool = False) -> Rows:
    chance = random.Random(seed)
    order = list(range(len(rows[0])))
    if columns:
        chance.shuffle(order)
    permuted = [tuple(row[at] for at in order) for row in rows]
    chance.shuffle(permuted)
    return tuple(permuted)


def _mix(rows: Rows, seed: int) -> Rows:
    """The columns, each in an order of its own."""
    chance = random.Random(seed)
    columns = zip(*rows, strict=True)
    return tuple(zip(*(chance.sample(column, len(rows)) for column in columns), strict=True))


if __name__ == "__main__":
    main()
