"""What stands out in a grouped result, and where nothing is said."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from generation.conversation.answer_sentence import load_sentences, render_sentence
from generation.conversation.headline import render_headline
from nl2sql.languages import LANGUAGES, Language
from nl2sql.results.headings import name_columns
from nl2sql.types import ResultSet

COUNTED = "SELECT country, COUNT(*) FROM customers GROUP BY country"
ROWS = (("USA", 13), ("UK", 40), ("Chad", 6))


def build(
    *rows: tuple[Any, ...], columns: str = "Country,COUNT(*)", more: bool = False
) -> ResultSet:
    names = tuple(columns.split(","))
    return ResultSet(names, ("",) * len(names), rows, more, 1.0)


def say(sql: str, result: ResultSet, language: Language = "en") -> str:
    return render_headline(sql, result, "sqlite", language)


SORTED = build(("USA", 13), ("UK", 4))


@pytest.mark.parametrize(
    ("sql", "result", "sentence"),
    [
        pytest.param(COUNTED, build(*ROWS), "“UK” has the most customers: 40 of 59.", id="counted"),
        pytest.param(
            f"{COUNTED} ORDER BY 2 DESC LIMIT 2",
            SORTED,
            "“USA” has the most customers: 13.",
            id="the_first_of_more",
        ),
        pytest.param(
            f"{COUNTED} ORDER BY COUNT(*) DESC LIMIT 1",
            build(("USA", 13)),
            "“USA” has the most customers: 13.",
            id="only_the_first",
        ),
        pytest.param(
            f"{COUNTED} ORDER BY COUNT(*) LIMIT 2",
            build(("Chad", 1), ("UK", 4)),
            "“Chad” has the fewest customers: 1.",
            id="the_last",
        ),
        pytest.param(
            "SELECT c.name, COUNT(o.id) AS cnt FROM clients c JOIN orders o USING (c) GROUP BY 1",
            build(("Ann", 3), ("Bo", 1), columns="name,cnt"),
            "“Ann” has the most orders: 3 of 4.",
            id="what_is_counted",
        ),
        pytest.param(
            "SELECT name, SUM(amt) AS total_revenue FROM sales GROUP BY name",
            build(("A", Decimal("2.50")), ("B", Decimal("7.25")), columns="name,total_revenue"),
            "“B” has the highest total revenue: 7.25 of 9.75.",
            id="a_sum",
        ),
        pytest.param(
            "SELECT name, AVG(price) FROM sales GROUP BY name",
            build(("A", 2.5), ("B", 7.0), columns="name,AVG(price)"),
            "“B” has the highest average price: 7.0.",
            id="an_average_has_no_sum",
        ),
        pytest.param(
            "SELECT first, last, salary FROM staff ORDER BY salary DESC LIMIT 5",
            build(("Ann", "Lee", 90), ("Bo", "Li", 80), columns="first,last,salary"),
            "“Ann”, “Lee” has the highest salary: 90.",
            id="no_group",
        ),
        pytest.param(
            f"{COUNTED} HAVING COUNT(*) > 1",
            build(*ROWS),
            "“UK” has the most customers: 40.",
            id="no_total_where_groups_are_left_out",
        ),
    ],
)
def test_what_stands_out(sql: str, result: ResultSet, sentence: str) -> None:
    assert say(sql, result) == sentence


@pytest.mark.parametrize(
    ("sql", "result"),
    [
        pytest.param(COUNTED, build(("USA", 13), ("UK", 13)), id="shared"),
        pytest.param(COUNTED, build(*ROWS, more=True), id="rows_are_missing"),
        pytest.param(f"{COUNTED} LIMIT 3", build(*ROWS), id="any_three"),
        pytest.param(f"{COUNTED} ORDER BY country LIMIT 3", build(*ROWS), id="by_another"),
        pytest.param(COUNTED, build(("USA", None), ("UK", 1)), id="no_number"),
        pytest.param(COUNTED, build((None, 3), ("UK", 1)), id="no_name"),
        pytest.param(COUNTED, build(("see www.evil.example", 3), ("UK", 1)), id="not_plain"),
        pytest.param(COUNTED, build(("USA", 3)), id="one_row"),
        pytest.param("SELECT name, age FROM staff", build(("A", 2), ("B", 3)), id="no_order"),
        pytest.param(
            "SELECT name, id FROM staff ORDER BY id DESC",
            build(("A", 3), ("B", 2), columns="name,id"),
            id="a_key",
        ),
        pytest.param("SELECT * FROM staff ORDER BY 2 DESC", build(("A", 3), ("B", 2)), id="star"),
        pytest.param(f"{COUNTED} UNION ALL {COUNTED}", build(*ROWS), id="union"),
        pytest.param("not SQL (", build(*ROWS), id="not_sql"),
        pytest.param(
            "SELECT country, COUNT(*), SUM(x) FROM t GROUP BY 1",
            build(("USA", 1, 2), ("UK", 2, 3), columns="a,b,c"),
            id="two_numbers",
        ),
    ],
)
def test_where_nothing_is_said(sql: str, result: ResultSet) -> None:
    assert say(sql, result) == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence(language: Language) -> None:
    assert load_sentences(language).keys() == load_sentences("en").keys()
    counted = say(COUNTED, build(*ROWS), language)
    assert all(part in counted for part in ("“UK”", "customers", "40", "59"))
    for result in (
        build((336,), columns="n"),
        build(("a",), ("b",), columns="n"),
        build(*ROWS),
        build(*ROWS, more=True),
        build((1,) * 7, columns="a,b,c,d,e,f,g"),
        build((None,), columns="n"),
        build((True,), columns="n"),
    ):
        sentence = render_sentence(result, language)
        assert sentence
        assert "{" not in sentence
    answer = render_sentence(build((336,), columns="n"), language)
    assert (answer == "Answer: 336.") == (language == "en")


def test_figures_with_a_unit_are_written_as_in_the_language() -> None:
    rows = ResultSet(
        ("name", "revenue"),
        ("text", "numeric"),
        (("Ann", Decimal("1234567.50")), ("Bo", Decimal(2))),
        False,
        1.0,
        units=("", "EUR"),
    )
    sql = "SELECT name, sum(amt) AS revenue FROM sales GROUP BY 1 ORDER BY 2 DESC"
    assert render_headline(sql, rows, "postgres") == (
        "“Ann” has the highest revenue: 1,234,567.50 of 1,234,569.50 EUR."
    )
    assert render_headline(sql, rows, "postgres", "de") == (
        "Den höchsten Wert (revenue) hat “Ann”: 1.234.567,50 von 1.234.569,50 EUR."
    )
    one = replace(rows, columns=("revenue",), types=("numeric",), rows=((Decimal("-5.5"),),))
    assert render_sentence(replace(one, units=("EUR",)), "fr") == "Réponse : -5,5 EUR."
    # Without a unit a number may be a year.
    assert render_sentence(replace(one, units=(), rows=((2024,),))) == "Answer: 2024."
    assert name_columns(rows.columns, rows.units) == ("name", "revenue (EUR)")
