"""SQL out of what models say."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from nl2sql.sql.extraction import extract_sql
from tests.golden import load_text

CASES = yaml.safe_load(load_text("extraction.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"].replace(" ", "_"))
def test_the_query_is_found(case: dict[str, Any]) -> None:
    assert extract_sql(case["text"], case.get("dialect", "postgres")) == case.get("sql", "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"].replace(" ", "_"))
def test_what_was_found_is_found_in_itself(case: dict[str, Any]) -> None:
    sql = case.get("sql", "")
    assert extract_sql(sql, case.get("dialect", "postgres")) == sql


PIECES = (
    *"<think> </think> ```sql ``` ` { } [ ] \" ' ; : -- /* */ $$ ( ) & &lt; \\ \n \0 ☃".split(" "),
    *("SELECT ", "WITH a AS (", "FROM t", '"sql": "', "\n\n", "This ", "a", "<|im_end|>", "{" * 99),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.sampled_from(["postgres", "sqlite"]))
def test_no_text_raises(pieces: list[str], dialect: str) -> None:
    assert isinstance(extract_sql("".join(pieces), dialect), str)


def test_a_long_answer_is_read_in_time() -> None:
    for piece in ("SELECT ", "{", "`SELECT ", "WITH a AS (", "'", "\n\nThis ", "<think>"):
        extract_sql(piece * 3000)
