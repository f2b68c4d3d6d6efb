"""No question and no database that is measured is trained on."""

from __future__ import annotations

import pytest

from data.benchmarks.overlaps import find_overlaps, leave_out
from data.benchmarks.types import Benchmark, Example
from nl2sql.errors import SettingsError
from tests.golden import ARROW, load_cases


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


@pytest.mark.parametrize(("found", "case"), load_cases("same_questions"))
def test_the_same_question_in_other_words_overlaps(found: str, case: str) -> None:
    question, measured = case.split(ARROW)
    overlaps = find_overlaps(["Unrelated?", question], ["Other.", measured])
    assert overlaps == ({1: measured} if found == "same" else {})
    assert find_overlaps([question], []) == {}
