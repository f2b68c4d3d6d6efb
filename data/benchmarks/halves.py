"""Two halves of a benchmark's databases: one to develop on, one to measure on.

A rule, weight or threshold that is chosen on ``look`` is measured on ``hold``, whose questions and
candidates nobody reads. The half of a database follows from its name alone, so that every machine
and every sample has the same halves.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Literal, get_args

from data.benchmarks.types import Benchmark
from nl2sql.errors import SettingsError

Half = Literal["look", "hold"]
HALVES: tuple[Half, ...] = get_args(Half)


def name_half(database: str) -> Half:
    """The half of a database, by the SHA-256 of its name.

    >>> name_half("spider_activity_1"), name_half("spider_aircraft")
    ('hold', 'look')
    """
    return HALVES[hashlib.sha256(database.encode()).digest()[-1] % 2]


def take_half(benchmark: Benchmark, half: str) -> Benchmark:
    """The benchmark with the examples of one half, which its name then ends in.

    Raises SettingsError for an unknown half, or if no example is left.
    """
    if half not in HALVES:
        raise SettingsError(f"There is no half {half!r}.", hint=f"Name {' or '.join(HALVES)}.")
    examples = tuple(each for each in benchmark.examples if name_half(each.database) == half)
    if not examples:
        raise SettingsError(
            f"No database of {benchmark.name} is in the half {half}.",
            hint="Halves are for benchmarks over many databases, such as Spider's train set.",
        )
    return replace(benchmark, name=f"{benchmark.name} {half}", examples=examples)
