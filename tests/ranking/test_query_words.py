"""Queries in words: the same for the same query, and never an error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ranking.query_words import describe_query
from tests.golden import load_changes


@pytest.mark.parametrize(("query", "words"), load_changes("query_words"))
def test_a_query_in_words(query: str, words: str) -> None:
    assert "; ".join(describe_query(query, "postgres")) == words


@pytest.mark.parametrize("source", ["t PIVOT(SUM(x) FOR y IN ('u'))", "t POSITIONAL JOIN u"])
def test_what_has_no_words_stays_sql(source: str) -> None:
    assert describe_query(f"SELECT a FROM {source}", "duckdb") == (f"SELECT a FROM {source}",)


def test_what_does_not_parse_stays_as_it_is() -> None:
    assert describe_query("SELECT  FROM (", "postgres") == ("SELECT FROM (",)
    assert len(describe_query("((" + "x" * 500, "postgres")[0]) < 200


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            "SELECT FROM WHERE ( ) , * t.a 'x' = JOIN ON AND NOT IN GROUP BY LIMIT 3 UNION "
            "count( DISTINCT ORDER DESC IS NULL WITH AS USING LATERAL".split()
        ),
        max_size=14,
    )
)
def test_any_words_are_described(tokens: list[str]) -> None:
    assert all(isinstance(each, str) for each in describe_query(" ".join(tokens), "postgres"))


def test_a_chain_too_long_for_words_is_shown_as_it_is() -> None:
    (text,) = describe_query(f"SELECT a FROM t WHERE {'a = 1 OR ' * 700} true", "postgres")
    assert text.startswith("SELECT a FROM t WHERE a = 1 OR")
