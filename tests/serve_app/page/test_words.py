"""The words and rules of the page: its modules are called in the browser, each with many inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.serve_app.page.browser import Reader

Call = Callable[..., Any]


@pytest.fixture
def call(reader: Reader) -> Call:
    """Calls an exported function of a module of the page: its path, its name, its arguments."""
    reader.visit()
    reader.see(".suggestions")

    def call(path: str, name: str, *arguments: Any) -> Any:
        return reader.page.evaluate(
            "async ([path, name, given]) => (await import(path))[name](...given)",
            [f"/page/js/{path}.js", name, arguments],
        )

    return call


def build_columns(*names: str) -> list[dict[str, str]]:
    """Columns of the names, without types."""
    return [{"name": name, "type": ""} for name in names]


def test_a_column_without_a_name_is_called_by_a_word_or_its_place(call: Call) -> None:
    for names, shown in (
        (["a", "?column?"], ["a", "Value"]),
        (["?column?", "n", ""], ["Column 1", "n", "Column 3"]),
    ):
        assert call("core/names", "nameColumns", build_columns(*names)) == shown
    for name, words in (
        ("total_revenue", "total revenue"),
        ("netAmount", "net amount"),
        ("AMT", "AMT"),
        ("count(*)", "count(*)"),
        ("_", "_"),
    ):
        assert call("core/names", "writeWords", name) == words


def test_the_sentence_says_what_the_rows_are(call: Call) -> None:
    twelve = [[at, at] for at in range(12)]

    def say(names: list[str], rows: list[list[Any]], **more: Any) -> Any:
        answer = {"text": "", "columns": build_columns(*names), "rows": rows, **more}
        return call("words/sentence", "writeSentence", answer)

    assert say(["day", "net_amt"], twelve) == "12 rows with day and net amt."
    assert say(["day", "?column?"], twelve) == "12 rows with day and value."
    assert say(["?column?"], twelve, truncated=True) == "The first 12 values; there are more."
    assert say(["?column?"], [[1234]]) == "1,234"
    assert say(["a"], []) == "No rows."
    assert say([*"abcdefg"], twelve) == "12 rows of 7 columns."
    assert say(["a"], [[1]], text="Answer: 1.") == "1."


def test_what_is_asked_back_depends_on_the_readings(call: Call) -> None:
    readings = [{"sql": name, "share": 0.4} for name in "ab"]
    for count, confidence, sentence, heading in (
        (0, 0.3, "I am not sure enough to answer.", ""),
        (1, 0.3, "I am not sure enough to answer.", "The nearest reading found"),
        (2, 0.3, "Which of these do you mean?", ""),
        (2, 0.04, "I am not sure enough to answer. Do you mean one of these?", ""),
    ):
        answer = {"interpretations": readings[:count], "confidence": confidence}
        asked = call("words/readings", "askBack", answer)
        assert asked == {"sentence": sentence, "heading": heading}


@pytest.mark.parametrize(
    ("shares", "weights", "order", "support"),
    [
        ([0.5, 0.25], [4, 2], "ab", ["50% of the attempts", "25% of the attempts"]),
        ([0.5, 0], [4, 2], "ab", ["50% of the attempts", "A variation of what was written."]),
        ([0, 0.5], [2, 4], "ba", ["50% of the attempts", "A variation of what was written."]),
        ([0, 0.5], [], "ba", ["50% of the attempts", "A variation of what was written."]),
        (
            [0, 0.5],
            [5, 4],
            "ab",
            [
                "A variation of what was written. Ranked first by the checks.",
                "50% of the attempts",
            ],
        ),
        ([0], [3], "a", ["A variation of what was written."]),
    ],
)
def test_a_variation_stands_first_only_where_the_checks_say_so(
    call: Call, shares: list[float], weights: list[float], order: str, support: list[str]
) -> None:
    readings = [{"sql": "ab"[at], "share": share} for at, share in enumerate(shares)]
    candidates = [{"sql": "ab"[at], "weight": weight} for at, weight in enumerate(weights)]
    trace = {"candidates": candidates} if candidates else None
    ordered = call("words/readings", "orderReadings", readings, trace)
    assert "".join(one["sql"] for one in ordered) == order
    said = [call("words/readings", "describeSupport", ordered, at) for at in range(len(ordered))]
    assert said == support
