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
