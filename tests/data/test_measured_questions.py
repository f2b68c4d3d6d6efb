"""No question and no database that is measured is trained on."""

from __future__ import annotations

import hashlib
import os
import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from data.benchmarks.load import load_benchmark
from data.benchmarks.overlaps import find_overlaps, leave_out
from data.benchmarks.types import Benchmark, Example, SqliteFile
from nl2sql.errors import SettingsError

BENCH = os.environ.get("QUORUMSQL_BENCH", "")
MEASURED = (
    "spider/dev.json",
    "spider/dev_synonyms.json",
    "defog/instruct_basic_postgres.csv",
    "defog/instruct_advanced_postgres.csv",
    "erp86/questions.json",
)


def build(*questions: tuple[str, str]) -> Benchmark:
    examples = tuple(
        Example(str(at), database, text, ("SELECT 1",))
        for at, (database, text) in enumerate(questions)
    )
    return Benchmark("ours", "sqlite", examples, {}, "0")


def test_measured_databases_and_questions_are_left_out() -> None:
    ours = build(("shop", "How many orders?"), ("zoo", "How many lions?"), ("zoo", "List lions."))
    measured = [build(("shop", "What?")), build(("park", "how many lion"))]
    assert [each.id for each in leave_out(ours, measured).examples] == ["2"]
    assert leave_out(ours, []).examples == ours.examples


def test_something_must_be_left() -> None:
    ours = build(("shop", "How many orders?"))
    with pytest.raises(SettingsError, match="All questions of ours"):
        leave_out(ours, [ours])


@pytest.mark.parametrize(
    ("question", "measured", "is_same"),
    [
        ("How many ships are there?", "how many SHIPS are there", True),
        ("How many ships are there?", "How many ship is are there?", True),
        ("List the names of all Ships by age.", "By age, list the names of all ships!", True),
        ("How many captains are there?", "How many ships are there?", False),
        ("How many ships were built before 1900?", "How many ships are there?", False),
    ],
)
def test_the_same_question_in_other_words_overlaps(
    question: str, measured: str, is_same: bool
) -> None:
    found = find_overlaps(["Unrelated?", question], ["Other.", measured])
    assert found == ({1: measured} if is_same else {})
    assert find_overlaps([question], []) == {}


@pytest.mark.skipif(not BENCH, reason="QUORUMSQL_BENCH names no folder of benchmarks")
def test_spiders_training_questions_are_apart_from_all_that_is_measured() -> None:
    def load(name: str) -> Benchmark:
        return load_benchmark(str(Path(BENCH) / name), configured=())

    measured = [load(name) for name in MEASURED]
    for name in ("demo_erp", "demo_erp_business", "demo_erp_definitions", "demo_erp_first"):
        measured.append(load_benchmark(name, configured={"demo_erp"}))
    train = load("spider/train.json")
    left = leave_out(train, measured)
    assert len(train.examples) * 0.99 < len(left.examples) < len(train.examples)

    # Checked by other means than those that chose them.
    asked = {fold(each.question) for other in measured for each in other.examples}
    ours = {fold(each.question) for each in left.examples}
    assert not ours & asked
    used = {hash_database(left, each.database) for each in left.examples}
    assert not used & {
        hash_database(other, name) for other in measured for name in other.databases
    } - {None}
    for text in asked:
        alike = [each for each in ours if abs(len(each) - len(text)) < 4 and is_alike(each, text)]
        assert not alike, f"{alike} are like {text!r}"


def fold(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def is_alike(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() > 0.95 and matcher.quick_ratio() > 0.95 < matcher.ratio()


def hash_database(benchmark: Benchmark, name: str) -> str | None:
    source = benchmark.databases[name]
    if not isinstance(source, SqliteFile):
        return None
    return hashlib.sha256(source.path.read_bytes()).hexdigest()
