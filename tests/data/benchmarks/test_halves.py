"""Halves of a benchmark's databases."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from data.benchmarks.halves import HALVES, name_half, take_half
from data.benchmarks.types import Benchmark, SqliteFile
from nl2sql.errors import SettingsError
from tests.evaluation.builders import build_example

NAMES = tuple(f"shop_{number}" for number in range(200))
BENCHMARK = Benchmark(
    "shops",
    "sqlite",
    tuple(dataclasses.replace(build_example(name), database=name) for name in NAMES),
    {name: SqliteFile(Path(name)) for name in NAMES},
    "0" * 64,
)


def test_each_database_is_in_one_half() -> None:
    look, hold = (take_half(BENCHMARK, half) for half in HALVES)
    assert {each.database for each in look.examples} | {
        each.database for each in hold.examples
    } == set(NAMES)
    assert len(look.examples) + len(hold.examples) == len(NAMES)
    assert 70 < len(look.examples) < 130


def test_a_half_does_not_depend_on_the_other_databases() -> None:
    some = dataclasses.replace(BENCHMARK, examples=BENCHMARK.examples[::7])
    expected = tuple(each for each in some.examples if name_half(each.database) == "hold")
    assert take_half(some, "hold").examples == expected


def test_the_name_says_which_half() -> None:
    assert take_half(BENCHMARK, "hold").name == "shops hold"


def test_an_unknown_half_is_refused() -> None:
    with pytest.raises(SettingsError, match="no half 'dev'"):
        take_half(BENCHMARK, "dev")


def test_a_half_without_examples_is_refused() -> None:
    one = dataclasses.replace(BENCHMARK, examples=BENCHMARK.examples[:1])
    other = "hold" if name_half(NAMES[0]) == "look" else "look"
    with pytest.raises(SettingsError, match=f"in the half {other}"):
        take_half(one, other)
