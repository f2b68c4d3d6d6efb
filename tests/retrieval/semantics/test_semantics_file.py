"""The file of definitions: its short form, and errors that name line and nearest key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nl2sql.errors import SettingsError
from retrieval.semantics.semantics_file import Problem, find_lines, load_semantics, parse_semantics
from tests.retrieval.semantics.files import build_file

FILE = """\
version: 1
measures:
  revenue: sum(orders.total)
  margin:
    expresion: sum(orders.total)
filters:
  open:
    condition: orders.status = 'open'
    synonyms: [unshipped]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "semantics.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_text_alone_is_the_expression_or_the_condition() -> None:
    made = build_file(measures={"m": "sum(a.b)"}, dimensions={"d": "a.b"}, filters={"f": "a.b = 1"})
    assert made.semantics.measures["m"].expression == "sum(a.b)"
    assert made.semantics.dimensions["d"].expression == "a.b"
    assert made.semantics.filters["f"].condition == "a.b = 1"


def test_an_error_names_the_line_and_the_nearest_key(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load_semantics(write(tmp_path, FILE))
    assert str(caught.value).endswith(
        "semantics.yaml, line 4: measures.margin.expression: it is missing; "
        "semantics.yaml, line 5: measures.margin.expresion: unknown key; "
        "did you mean 'expression'?"
    )


def test_a_problem_is_described_with_its_line(tmp_path: Path) -> None:
    file = load_semantics(write(tmp_path, FILE.replace("expresion", "expression")))
    assert file.describe(Problem(("filters", "open", "condition"), "wrong")) == (
        "semantics.yaml, line 8: filters.open.condition: wrong"
    )
    # A key that is not written has the line of the one above it.
    assert "line 4" in file.describe(Problem(("measures", "margin", "joins"), "wrong"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], "must be a mapping"),
        ({"version": 2}, "version: Input should be 1"),
        ({}, "version: it is missing"),
        ({"version": 1, "mesures": {}}, "unknown key; did you mean 'measures'?"),
        (
            {"version": 1, "filters": {"a": {"expression": "x.y"}}},
            "filters.a.expression: unknown key",
        ),
        ({"version": 1, "filters": {"a\nb": "x.y = 1"}}, "a name is at most 60"),
        (
            {"version": 1, "filters": {"a": {"condition": "x.y = 1", "synonyms": ["`"]}}},
            "a name is at most 60",
        ),
        ({"version": 1, "filters": {"a": "x.y = '```'"}}, "without the sign `"),
        *(
            ({"version": 1, "descriptions": {"t": f"a{sign}b"}}, "without control characters")
            for sign in "\n\x1b\x7f\x9b\u2028\u202e\u2066"
        ),
    ],
)
def test_what_is_wrong_is_said(value: Any, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_semantics(value)
    assert expected in str(caught.value)


def test_the_line_of_each_key_and_item_is_known(tmp_path: Path) -> None:
    file = tmp_path / "some.yaml"
    file.write_text("# first\na:\n  b: 1\n  c:\n    - x\n    - y\n", encoding="utf-8")
    assert find_lines(file) == {
        ("a",): 2,
        ("a", "b"): 3,
        ("a", "c"): 4,
        ("a", "c", "0"): 5,
        ("a", "c", "1"): 6,
    }
