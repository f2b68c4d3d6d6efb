"""What functions make of texts: numbers of many digits, and texts as long as a format says."""

from __future__ import annotations

import pytest

from tests.execution.guard.test_growth import judge


@pytest.mark.parametrize(
    "text",
    [
        "concat('1e', 100000)",
        "concat_ws('', '1e', 100000)",
        "format('1e%s', 100000)",
        "overlay('1x' PLACING 'e100000' FROM 2)",
        "replace('1x', 'x', 'e100000')",
        "'1e' || 100000",
    ],
)
def test_a_text_in_parts_may_be_a_long_number(text: str) -> None:
    quotients = ", ".join(["x / x"] * 150)
    sql = f"SELECT {quotients} FROM (SELECT ({text})::{{}} AS x) AS t"
    assert judge(sql.format("numeric"), "postgres") == "too_much_text"
    assert judge(sql.format("integer"), "postgres") == ""


FORMATS = {
    # A text, what stands behind it → the violation.
    "'%5s|%-9s', 'x', 'y'": "",
    "'%19993s', 'x'": "",
    "'%19994s', 'x'": "too_much_text",
    "'%000000009s', 'x'": "",
    "'%0000000009s', 'x'": "too_much_text",
    f"'%{'9' * 5000}s', 'x'": "too_much_text",
    "'%*s', 100000000, 'x'": "too_much_text",
    "'%1$*2$s', 'x', 100000000": "too_much_text",
    "100, 'x'": "too_much_text",
    "name, 'x'": "too_much_text",
    "": "too_much_text",
}


@pytest.mark.parametrize(
    ("arguments", "code"), FORMATS.items(), ids=[format_[:20] for format_ in FORMATS]
)
def test_a_format_tells_how_long_a_text_it_makes(arguments: str, code: str) -> None:
    assert judge(f"SELECT format({arguments}) FROM customers", "postgres") == code


def test_a_width_in_braces_may_be_no_argument() -> None:
    assert judge("SELECT format('{:9}', 'x')", "duckdb") == ""
    assert judge("SELECT format('{:{}}', 'x', 100000000)", "duckdb") == "too_much_text"


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("postgres", "format('%999s', 'x')"),
        ("duckdb", "format('{:999}', 'x')"),
        ("duckdb", "printf('%999d', 1)"),
    ],
)
def test_what_a_format_makes_is_as_long_as_its_width(dialect: str, call: str) -> None:
    assert judge(f"SELECT repeat({call}, 9000)", dialect) == ""
    assert judge(f"SELECT repeat({call}, 10000)", dialect) == "too_much_text"
