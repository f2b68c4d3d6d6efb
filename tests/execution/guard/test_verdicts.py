"""The guard's verdict on each query of the tables (golden: fixtures/verdicts_*.txt)."""

from __future__ import annotations

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import Violation
from tests.execution.expecting import expect
from tests.execution.judging import judge
from tests.fakes import SHOP
from tests.golden import load_cases

# What a table of lines cannot hold: letters without width, texts that are too long for one.
UNWRITABLE = [
    ("duckdb", "unparsable", "SELECT 1\u200b+ 2 FROM customers"),
    ("duckdb", "unparsable", "SELECT a\u2060b FROM customers"),
    ("duckdb", "unparsable", "SELECT \ufeffname FROM customers"),
    ("duckdb", "passes", "SELECT 'a\u200bb' FROM customers"),
    *(("duckdb", "passes", f"SELECT{space}1 AS x") for space in "\u00a0\u2003\u3000"),
    ("postgres", "unparsable", "SELECT\u30001"),
    ("postgres", "passes", "SELECT '\u3000'"),
    ("postgres", "unparsable", "SELECT 'a\0b'"),
    ("postgres", "unparsable", "SELECT '\ud800'"),
    ("postgres", "unparsable", f"SELECT '{chr(0xDFFF)}'"),
    ("postgres", "passes", "SELECT '\ud7ff\ue000'"),
    ("postgres", "passes", "SELECT id FROM orders GROUP -- by\nBY id"),
    ("postgres", "passes", "SELECT 1" + " " * 19_992),
    ("postgres", "too_long", "SELECT 1" + " " * 19_993),
    ("postgres", "multiple_statements", "SELECT 1; SELECT 2"),
    ("postgres", "multiple_statements", ""),
    ("postgres", "not_a_query", "DELETE FROM orders"),
    ("postgres", "passes", "SELECT 1 WHERE " + " OR ".join(f"1 = {at}" for at in range(300))),
    # A chain that is too long to be walked; DuckDB's own tree of one is nested more deeply.
    ("postgres", "unresolved", f"SELECT 1{' + 1' * 1900}"),
    ("sqlite", "unresolved", f"SELECT 1{' + 1' * 1900}"),
    ("duckdb", "unparsable", f"SELECT 1{' + 1' * 1900}"),
    ("duckdb", "unparsable", f"SELECT 1{' IS NULL' * 600}"),
]
CASES = [
    (*heading.split(), sql)
    for name in ("verdicts_growth", "verdicts_names")
    for heading, sql in load_cases(name)
]


@pytest.mark.parametrize(
    ("dialect", "code", "sql"), [*CASES, *UNWRITABLE], ids=lambda value: ascii(value)[:50]
)
def test_a_query_has_its_verdict(dialect: str, code: str, sql: str) -> None:
    assert (judge(sql, dialect) or "passes") == code


@pytest.mark.parametrize(
    ("sql", "fragment"),
    [
        ("SELECT 1 + * FROM orders", "*"),
        ("SELECT o.nothing FROM orders AS o", "o.nothing"),
        ("SELECT count(o.*) FROM orders AS o(a)", "o.*"),
        ("SELECT 1 FROM orders JOIN customers USING (nothing)", "nothing"),
    ],
)
def test_a_refusal_tells_which_text_it_is_about(sql: str, fragment: str) -> None:
    verdict = expect(Violation, guard_query(sql, open_access(SHOP)))
    assert verdict.fragment == fragment
    assert verdict.message


def test_fragments_are_cut() -> None:
    sql = "SELECT $1 || " + "'x' || " * 30 + "$1"
    assert 0 < len(expect(Violation, guard_query(sql, open_access(SHOP))).fragment) <= 80
