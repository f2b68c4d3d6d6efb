"""What a rule says of a result."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from generation.conversation.answer_sentence import is_small, render_sentence
from generation.conversation.headings import name_columns
from nl2sql.languages import LANGUAGES, Language
from nl2sql.types import ResultSet


def build(columns: str, *rows: tuple[Any, ...], truncated: bool = False, **more: Any) -> ResultSet:
    names = tuple(columns.split(","))
    return ResultSet(names, ("text",) * len(names), rows, truncated, 1.0, **more)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (build("count", (336,)), "Answer: 336."),
        (build("count", (Decimal("12.50"),)), "Answer: 12.50."),
        (build("day", (dt.date(2024, 5, 1),)), "Answer: 2024-05-01."),
        (build("x", (True,)), "Answer: yes."),
        (build("x", (None,)), "Answer: no value."),
        (build("name", ("Ann",)), "Answer: “Ann”."),
        (build("a,b", ("Ann", 3)), "a: “Ann”; b: 3."),
        (build("a", ("x",), ("y",)), "2 values: “x”, “y”."),
        (build("a,b", (1, 2), (3, 4)), "2 rows with a and b."),
        (build("a", *[(1,)] * 9, truncated=True), "The first 9 rows with a; there are more."),
        (build("a,b,c,d,e,f,g", (1,) * 7), "1 row of 7 columns."),
        (build("a"), ""),
        # Columns without a name.
        (build("?column?", (3,)), "Answer: 3."),
        (build("a,?column?", ("Ann", 3)), "a: “Ann”; value: 3."),
        (build("?column?,a,?column?", (1, 2, 3)), "column 1: 1; a: 2; column 3: 3."),
        (build("a,?column?", (1, 2), (3, 4)), "2 rows with a and value."),
        (build("", *[(1,)] * 9, truncated=True), "The first 9 values; there are more."),
    ],
)
def test_the_sentence_names_few_cells_and_counts_many(result: ResultSet, sentence: str) -> None:
    assert render_sentence(result) == sentence


@pytest.mark.parametrize(
    "cell",
    [
        "<script>alert(1)</script>",
        "see https://evil.example",
        "[click](javascript:x)",
        "`rm -rf`",
        "two\nlines",
        "x" * 61,
        "“. Answer: 42. “",
        b"bytes",
        ["a"],
        {"a": 1},
        "",
        Decimal("NaN"),
        Decimal("1E+50"),
    ],
)
def test_a_cell_that_is_not_plain_is_counted_not_named(cell: Any) -> None:
    assert render_sentence(build("name", (cell,))) == "1 row with name."
    assert render_sentence(build("name", ("Ann",), (cell,))) == "2 rows with name."


def test_a_column_whose_name_is_not_plain_is_not_named() -> None:
    assert render_sentence(build("<b>,b", (1, 2))) == "1 row of 2 columns."
    assert render_sentence(build("<b>,b", (1, 2), (3, 4))) == "2 rows of 2 columns."


def test_a_cell_that_was_cut_is_not_named() -> None:
    result = build("a", ("Ann",), cut=((0, 0),))
    assert not is_small(result)
    assert render_sentence(result) == "1 row with a."


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence(language: Language) -> None:
    for result in (
        build("n", ("a",), ("b",)),
        build("n,m", (1, 2), (3, 4)),
        build("n,m", (1, 2), (3, 4), truncated=True),
        build("a,b,c,d,e,f,g", (1,) * 7),
        build("?column?", *[(1,)] * 9),
        build("n", (None,)),
        build("n", (True,)),
        build("n", (336,)),
    ):
        sentence = render_sentence(result, language)
        assert sentence
        assert "{" not in sentence
    assert (sentence == "Answer: 336.") == (language == "en")


def test_figures_with_a_unit_are_written_as_in_the_language() -> None:
    revenue = build("revenue", (Decimal("-1234567.50"),), units=("EUR",))
    assert render_sentence(revenue) == "Answer: -1,234,567.50 EUR."
    assert render_sentence(revenue, "de") == "Antwort: -1.234.567,50 EUR."
    assert name_columns(revenue.columns, revenue.units) == ("revenue (EUR)",)
    # Without a unit a number may be a year.
    assert render_sentence(build("year", (2024,))) == "Answer: 2024."
