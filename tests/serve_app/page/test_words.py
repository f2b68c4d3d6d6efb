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


def test_the_sentence_says_what_the_rows_are(call: Call) -> None:
    twelve = [[at, at] for at in range(12)]

    def say(names: list[str], rows: list[list[Any]], **more: Any) -> Any:
        answer = {"text": "", "columns": build_columns(*names), "rows": rows, **more}
        return call("words", "writeSentence", answer)

    assert say(["day", "net_amt"], twelve) == "12 rows with day and net amt."
    assert say(["day"], twelve, truncated=True) == "The first 12 rows with day; there are more."
    assert say(["?column?"], [[1234]]) == "1,234"
    assert say(["a"], []) == "No rows."
    assert say([*"abcdefg"], twelve) == "12 rows of 7 columns."
    assert say(["a"], [[1]], text="Answer: 1.") == "1."
    assert say(["a"], [[1]], text="Réponse : 1.") == "1."


def test_a_value_is_shown_whole_in_its_own_zone_and_in_words(call: Call) -> None:
    for type_, value, shown in (
        (
            "numeric",
            "12345678901234567890123.0000000001",
            "12,345,678,901,234,567,890,123.0000000001",
        ),
        ("numeric", "-1234.5678901234567890", "-1,234.567890…"),
        ("numeric", "0.0000000000001234", "0.0000000000001234"),
        ("float8", 0.1 + 0.2, "0.300000…"),
        ("float8", -12.5, "-12.5"),
        ("int8", "9007199254740993", "9,007,199,254,740,993"),
        ("numeric", "NaN", "NaN"),
        ("timestamptz", "2025-06-30T22:30:00+00:00", "30 Jun 2025, 22:30 UTC"),
        ("timestamptz", "2025-06-30 22:30:05+05:30", "30 Jun 2025, 22:30:05 UTC+05:30"),
        ("timestamp", "2025-06-30T22:30:00", "30 Jun 2025, 22:30"),
        ("timestamp", "2025-06-30T22:30:00.000001", "30 Jun 2025, 22:30:00.000001"),
        ("timestamptz", "infinity", "infinity"),
        ("interval", "P1Y2M3D", "1 year 2 months 3 days"),
        ("interval", "P-1DT-1H0.5S", "-1 day -1 hour 0.5 seconds"),
        ("interval", "PT0S", "0 seconds"),
        ("interval", "infinity", "infinity"),
    ):
        answer = {"text": "", "columns": [{"name": "v", "type": type_}], "rows": [[value]]}
        assert call("words", "writeSentence", answer).removesuffix(".") == shown, value


def test_years_and_ids_are_names_and_not_grouped(call: Call) -> None:
    for name, value, shown in (
        ("y", 2023, "2023"),
        ("AlbumId", 12345, "12345"),
        ("customer_id", "12345", "12345"),
        ("releaseYear", 1650, "1650"),
        ("count", 12023, "12,023"),
        ("y", 2123, "2,123"),
    ):
        answer = {"text": "", "columns": [{"name": name, "type": "int4"}], "rows": [[value]]}
        assert call("words", "writeSentence", answer) == shown, name


@pytest.mark.parametrize(
    ("rows", "order"),
    [([["P1M"], ["P9D"], ["PT100H"]], [2, 1, 0]), ([["P1Y"], ["P2D"], ["infinity"]], [1, 0, 2])],
)
def test_intervals_are_sorted_by_their_length(
    call: Call, rows: list[list[str]], order: list[int]
) -> None:
    sort = {"at": 0, "descending": False}
    assert call("components/table_rows", "sortRows", rows, [0, 1, 2], sort, "span") == order


@pytest.mark.parametrize(
    ("shares", "support"),
    [
        ([0.5, 0.25], ["50% of the attempts", "25% of the attempts"]),
        ([0.5, 0], ["50% of the attempts", "A variation of what was written."]),
        (
            [0, 0.5],
            [
                "A variation of what was written. Ranked first by the checks.",
                "50% of the attempts",
            ],
        ),
        ([0], ["A variation of what was written."]),
    ],
)
def test_a_variation_that_stands_first_says_why(
    call: Call, shares: list[float], support: list[str]
) -> None:
    readings = [{"sql": "ab"[at], "share": share} for at, share in enumerate(shares)]
    assert [call("words", "describeSupport", readings, at) for at in range(len(shares))] == support


def build_counted(*groups: tuple[int, int | None, int]) -> list[dict[str, Any]]:
    """Candidates of (group, rows, samples); the votes of a group are the samples in it."""
    return [
        {
            "sql": f"SELECT {at}",
            "origin": "sample" if samples else "derived",
            "group": group,
            "rows": rows,
            "samples": samples,
            "votes": sum(each[2] for each in groups if each[0] == group) if group >= 0 else 0,
            "findings": [],
        }
        for at, (group, rows, samples) in enumerate(groups)
    ]


CHECK = " Check it before you rely on it."


@pytest.mark.parametrize(
    ("samples", "groups", "summary"),
    [
        (8, [(0, 3, 8)], "All 8 attempts came to this result."),
        (
            8,
            [(0, 3, 5), (1, 4, 2), (2, 9, 1)],
            "5 of 8 attempts came to this result; 3 came to 2 other results.",
        ),
        (
            8,
            [(0, 3, 2), (-1, None, 6)],
            "2 of 8 attempts came to this result; 6 gave no result." + CHECK,
        ),
        (
            8,
            [(0, 3, 0), (1, 3, 5)],
            "None of 8 attempts came to this result; 5 came to another result; 3 gave no result."
            + CHECK,
        ),
        (
            1,
            [(0, 3, 1)],
            "There was only one attempt, so nothing could be compared." + CHECK,
        ),
        (
            4,
            [(0, 3, 1), (-1, 7, 2)],
            "1 of 4 attempts came to this result; 2 gave a result that was not compared; "
            "1 gave no result." + CHECK,
        ),
    ],
    ids="all most few variation one left_out".split(),
)
def test_the_summary_counts_all_attempts(
    call: Call, samples: int, groups: list[tuple[int, int | None, int]], summary: str
) -> None:
    candidates = build_counted(*groups)
    trace = {"samples": samples, "candidates": candidates, "ended_early": False}
    agreeing = candidates[0]["votes"]
    answer = {
        "sql": "SELECT 0",
        "confidence": 0.6,
        "quorum": agreeing >= 2 and agreeing * 2 > samples,
        "trace": trace,
    }
    assert call("words", "describeConfidence", answer, False)["summary"] == summary
    # Without the process, no numbers are known: then neither says any.
    bare = answer | {"trace": None}
    words = call("words", "describeConfidence", bare, False)["summary"]
    assert not [sign for sign in words if sign.isdigit()]
    assert ("Most of" in words) == answer["quorum"]


def test_candidates_are_counted_by_origin_and_add_up(call: Call) -> None:
    origins = ["sample"] * 3 + ["derived"] * 5 + ["repair"]
    candidates = [{"origin": origin} for origin in origins]
    said = call("words", "describeOrigins", {"samples": 4, "candidates": candidates})
    assert said == (
        "The model was asked 4 times and wrote 3 different queries; 5 variations of what it wrote "
        "were made by rule; repairing what failed gave 1 more query."
    )
    said = call("words", "describeOrigins", {"samples": 1, "candidates": candidates[:1]})
    assert said == "The model was asked once and wrote 1 different query."


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which product line's sales rose?", "which-product-lines-sales-rose"),
        ("../../etc/passwd\u202egnp.exe", "etc-passwdgnp-exe"),
        ("売上 2025: 東京?", "売上-2025-東京"),
        ("x" * 99, "x" * 60),
        ("How many " + "long words " * 20, "how-many" + "-long-words" * 4 + "-long"),
        ("CON", "quorumsql-con"),
    ],
)
def test_a_file_is_named_after_the_question(call: Call, question: str, name: str) -> None:
    assert call("core/files", "nameFile", question) == name


TEXT, NUMBER, DATE = "text", "numeric", "date"


@pytest.mark.parametrize(
    ("types", "rows", "mark"),
    [
        ([TEXT, NUMBER], [["a", 1], ["b", 2]], "bar"),
        ([DATE, NUMBER], [["2025-01-01", 1], ["2025-02-01", 2]], "line"),
        ([TEXT, NUMBER], [["a", 1]], None),
        ([TEXT, NUMBER], [["a", at] for at in range(20)], None),
        ([DATE, NUMBER], [["2025-01-01", at] for at in range(20)], None),
        ([TEXT, NUMBER], [["a", None], ["b", None]], None),
        ([NUMBER, NUMBER], [[at, at * at] for at in range(20)], None),
    ],
)
def test_a_chart_is_offered_where_there_is_something_to_compare(
    call: Call, types: list[str], rows: list[list[Any]], mark: str | None
) -> None:
    columns = [{"name": f"c{at}", "type": type_} for at, type_ in enumerate(types)]
    roles = call("chart/rule", "readRoles", columns, rows)
    suggested = call("chart/rule", "suggestChart", roles, len(rows))
    assert (suggested and suggested["mark"]) == mark
    choices = call("chart/rule", "listChoices", roles)["x"]
    assert all(len({row[at] for row in rows}) > 1 for at in choices)
