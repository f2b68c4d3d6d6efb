"""Questions in other words, found beside the ones that they stand for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from data.benchmarks.load import load_benchmark
from data.benchmarks.paraphrases import reword
from data.benchmarks.types import Example
from nl2sql.errors import SettingsError

BENCH = os.environ.get("QUORUMSQL_BENCH", "")

EXAMPLES = (
    Example("q1", "spider_pets", "How many pets  are there?", ("SELECT 1",)),
    Example("q2", "one", "How many pets are there ?", ("SELECT 2",), schema="zoo"),
    Example("q3", "one", "Which pets?", ("SELECT 3",), schema="zoo"),
)
BEFORE = [("pets", "How many pets are there?"), ("ZOO", "How many pets are there?")]
AFTER = [("pets", "How many animals are there?"), ("ZOO", "How many beasts are there?")]


def write(path: Path, entries: list[tuple[str, str]]) -> Path:
    values = [{"db_id": db, "question": text, "query": "SELECT 9"} for db, text in entries]
    path.write_text(json.dumps(values))
    return path


def test_the_gold_stays_the_benchmarks_own(tmp_path: Path) -> None:
    files = write(tmp_path / "dev.json", BEFORE), write(tmp_path / "syn.json", AFTER)
    assert reword(EXAMPLES, *files) == (
        ("q1", Example("syn-q1", "spider_pets", "How many animals are there?", ("SELECT 1",))),
        (
            "q2",
            Example("syn-q2", "one", "How many beasts are there?", ("SELECT 2",), schema="zoo"),
        ),
    )


def test_the_same_words_are_no_other_words(tmp_path: Path) -> None:
    same = [("pets", "how many pets are there ?"), ("zoo", "How many beasts are there?")]
    files = write(tmp_path / "dev.json", BEFORE), write(tmp_path / "syn.json", same[:1] + AFTER[1:])
    assert [original for original, _ in reword(EXAMPLES, *files)] == ["q2"]


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (AFTER[:1], "has 2 entries"),
        ([AFTER[1], AFTER[0]], "is not that of entry 1"),
        (BEFORE, "No question of the benchmark"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, after: list[tuple[str, str]], message: str) -> None:
    files = write(tmp_path / "dev.json", BEFORE), write(tmp_path / "syn.json", after)
    with pytest.raises(SettingsError, match=message):
        reword(EXAMPLES, *files)


@pytest.mark.skipif(not BENCH, reason="QUORUMSQL_BENCH names no folder of benchmarks")
def test_spiders_other_words_fit_its_postgresql_form() -> None:
    folder = Path(BENCH)
    benchmark = load_benchmark(str(folder / "spider_pg"), configured=(), one_database=True)
    dev = [example for example in benchmark.examples if example.split == "dev"]
    spider = folder / "spider"
    pairs = reword(dev, spider / "dev.json", spider / "dev_synonyms.json")
    assert (len(dev), len(pairs)) == (445, 394)
