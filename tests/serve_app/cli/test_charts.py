"""Charts in the terminal: chosen by rule, never wider than the terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from quorumsql.contract.answers import ResultColumn
from serve_app.cli.charts import Bars, Series, choose_chart, draw_chart


def choose(rows: list[list[Any]], *columns: str) -> Bars | Series | None:
    """The chart of rows; a column is NAME:TYPE."""
    named = [column.partition(":") for column in columns]
    return choose_chart([ResultColumn(name=name, type=kind) for name, _, kind in named], rows)


MONTHS = [[f"2024-{month:02}-01", month * 10] for month in range(1, 13)]


def test_labels_with_a_number_are_bars() -> None:
    chart = choose([["Rome", "12.50"], ["Łódź", 3]], "city:text", "total:numeric")
    assert chart == Bars("total", ("Rome", "Łódź"), (12.5, 3.0))
    two = choose([["Rome", "open", 1], ["Rome", "done", 2]], "city:text", "state:text", "n:int8")
    assert two == Bars("n", ("Rome · open", "Rome · done"), (1.0, 2.0))


def test_points_in_time_are_a_series_in_order() -> None:
    chart = choose(list(reversed(MONTHS)), "month:date", "n:int8")
    assert isinstance(chart, Series)
    assert (chart.labels[0], chart.values[-1]) == ("2024-01-01", 120)
    years = choose([[year, year - 2000] for year in range(2010, 2020)], "year:int4", "n:int8")
    assert isinstance(years, Series)
    few = choose([["2024", 1], ["2023", 2]], "year:text", "n:int8")
    assert few == Bars("n", ("2023", "2024"), (2.0, 1.0))


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([["Rome", 1]], ["city:text", "n:int8"]),
        ([["Rome", 1], ["Rome", 2]], ["city:text", "n:int8"]),
        ([["Rome", 1], [None, 2]], ["city:text", "n:int8"]),
        ([["Rome", 1], ["Oslo", None]], ["city:text", "n:int8"]),
        ([["Rome", True], ["Oslo", False]], ["city:text", "n:bool"]),
        ([["Rome", "1"], ["Oslo", "2"]], ["city:text", "n:text"]),
        ([["Rome", 1], ["Oslo", 2]], ["city:text", "customer_id:int8"]),
        ([[5, 1], [6, 2]], ["amount:int4", "n:int8"]),
        ([[1], [2]], ["n:int8"]),
        ([[str(n), n] for n in range(40)], ["city:text", "n:int8"]),
        ([["a", "b", "c", 1], ["d", "e", "f", 2]], ["a:text", "b:text", "c:text", "n:int8"]),
        ([], ["city:text", "n:int8"]),
    ],
)
def test_other_rows_have_no_chart(rows: list[list[Any]], columns: list[str]) -> None:
    assert choose(rows, *columns) is None


def test_bars_are_as_long_as_their_numbers() -> None:
    lines = [line.plain for line in draw_chart(Bars("n", ("a", "b", "c"), (8, 4, 0)), 24)]
    assert lines == [
        "n",
        "a ████████████████████ 8",
        "b ██████████           4",
        "c" + " " * 22 + "0",
    ]


def test_negative_numbers_go_to_the_left_of_zero() -> None:
    lines = [line.plain for line in draw_chart(Bars("n", ("a", "b"), (4, -4)), 24)]
    assert lines[1].index("█") == lines[2].index("█") + lines[2].count("█")
    assert lines[1].count("█") == lines[2].count("█") > 5


def test_a_series_begins_at_zero() -> None:
    chart = Series("n", tuple(map(str, range(2010, 2018))), (8, 8, 4, 4, 2, 2, 1, 0))
    lines = [line.plain for line in draw_chart(chart, 40)]
    assert [lines[1].count("█"), lines[5].count("█"), lines[8].count("█")] == [8, 16, 28]
    assert lines[1].startswith("8 █")
    assert lines[8].startswith("0 █")
    assert lines[-1].split() == ["2010", "2017"]


@pytest.mark.parametrize("width", [20, 40, 79, 200])
@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize(
    "chart",
    [
        Bars("金額" * 40, ("日本語の長い名前" * 5, "a\nb", "\x1b[31mred"), (1e9, -3.25, 0)),
        Bars("zero", ("a", "b"), (0, 0)),
        Series("long", tuple(map(str, range(1000))), tuple(float(n % 97) for n in range(1000))),
        Series("flat", tuple("abcdefgh"), (0.0,) * 8),
        Series("below", tuple("abcdefgh"), tuple(-float(n) for n in range(8))),
    ],
    ids=lambda chart: chart.title[:4] if isinstance(chart, Bars | Series) else None,
)
def test_no_line_is_wider_than_the_terminal(
    chart: Bars | Series, width: int, unicode: bool
) -> None:
    for line in draw_chart(chart, width, unicode=unicode):
        assert cell_len(line.plain) <= width
        assert "\x1b" not in line.plain
        assert unicode or "█" not in line.plain


def test_without_colours_a_chart_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=40)
    console.print(draw_chart(Bars("n", ("a", "b"), (2, 1)), 40)[1])
    assert "\x1b[3" not in file.getvalue()
