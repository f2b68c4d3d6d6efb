"""The glance calls nothing small that may grow, whatever kind of node makes it."""

from __future__ import annotations

import pytest

from execution import growth_glance
from tests.execution.test_growth import judge

_LONG = f"'{'x' * 9000}'"

# Few names and no function that is not known.
GROWING = {
    "repeat": ("postgres", "SELECT repeat(repeat('x', 10000), 10000)"),
    "pad": ("postgres", "SELECT lpad(lpad('x', 10000), 10000)"),
    "replace": ("postgres", f"SELECT replace({_LONG}, 'x', {_LONG})"),
    "regexp_replace": ("postgres", f"SELECT regexp_replace({_LONG}, 'x', {_LONG}, 'g')"),
    "series": (
        "postgres",
        f"SELECT array_agg({_LONG}) FROM generate_series(1, 90000)",
    ),
    "unnest": (
        "postgres",
        f"SELECT string_agg({_LONG}, '') FROM unnest(string_to_array({_LONG}, NULL)) AS u (x)",
    ),
    "taken_apart": (
        "postgres",
        f"SELECT ARRAY(SELECT {_LONG} FROM pg_catalog.string_to_table({_LONG}, NULL) AS s (x))",
    ),
    "format": ("sqlite", f"SELECT replace(printf('%9000d', 1), ' ', {_LONG})"),
    "recursion": (
        "postgres",
        "WITH RECURSIVE n AS (SELECT 1 AS i, 'x' AS t UNION ALL SELECT i + 1, t || t FROM n "
        "WHERE i < 30) SELECT t FROM n",
    ),
    "rows": ("postgres", f"SELECT {'(' * 30}'x'{', 1)' * 30}"),
    "calls": ("postgres", f"SELECT {'to_json(' * 30}name{')' * 30} FROM customers"),
}


@pytest.mark.parametrize(("dialect", "sql"), GROWING.values(), ids=GROWING)
def test_what_grows_is_measured(monkeypatch: pytest.MonkeyPatch, dialect: str, sql: str) -> None:
    # What another query has shown of these nodes is not known yet.
    monkeypatch.setattr(growth_glance, "_kinds", {})
    assert judge(sql, dialect) == "too_much_text"
    assert judge(sql, dialect) == "too_much_text"


def test_a_position_is_no_longer_than_its_text() -> None:
    sql = f"SELECT repeat(position('x' IN '{'x' * 3000}')::text, {{times}})"
    assert judge(sql.format(times=3000)) == ""
    assert judge(sql.format(times=4000)) == "too_much_text"
