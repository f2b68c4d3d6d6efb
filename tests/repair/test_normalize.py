"""Other dialects, read and rewritten (golden: fixtures/normalize.sql)."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from repair.normalize import normalize_dialect
from tests.golden import Pair, load_pairs

PAIRS = load_pairs("normalize")


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
def test_a_query_is_rewritten_as_in_the_golden_file(pair: Pair) -> None:
    assert normalize_dialect(pair.before) == (pair.after or None)


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
def test_what_was_rewritten_is_postgresql(pair: Pair) -> None:
    if pair.after:
        assert isinstance(sqlglot.parse_one(pair.after, dialect="postgres"), exp.Query)


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT DATEDIFF(day, a, b) FROM t", {"a", "b"}),
        ("SELECT date_trunc('month', a), pg_sleep(1) FROM t", {"a"}),
        ("SELECT DATE_FORMAT(a, '%Y'), b FROM t", {"a", "b"}),
    ],
    ids=["tsql_datediff", "postgresql_date_trunc", "mysql_date_format"],
)
def test_no_column_is_lost(sql: str, columns: set[str]) -> None:
    rewritten = normalize_dialect(sql) or sql
    tree = sqlglot.parse_one(rewritten, dialect="postgres")
    assert columns <= {column.name for column in tree.find_all(exp.Column)}


def test_a_query_too_deep_to_read_is_left_alone() -> None:
    assert normalize_dialect(f"SELECT {'(' * 2000}1{')' * 2000}") is None
