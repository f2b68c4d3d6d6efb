from __future__ import annotations

import pytest

from data.benchmarks.overlaps import find_overlaps


@pytest.mark.parametrize(
    ("question", "measured"),
    [
        ("How many ships are there?", "how many SHIPS are there"),
        ("How many ships are there?", "How many ship is are there?"),
        ("List the names of all Ships by age.", "By age, list the names of all ships!"),
    ],
)
def test_the_same_question_in_other_words_overlaps(question: str, measured: str) -> None:
    assert find_overlaps(["Unrelated?", question], ["Other.", measured]) == {1: measured}


@pytest.mark.parametrize(
    "question",
    ["How many captains are there?", "How many ships were built before 1900?", "Which ship sank?"],
)
def test_another_question_does_not(question: str) -> None:
    assert find_overlaps([question], ["How many ships are there?"]) == {}


def test_nothing_overlaps_with_nothing() -> None:
    assert find_overlaps([], ["How many?"]) == {} == find_overlaps(["How many?"], [])
