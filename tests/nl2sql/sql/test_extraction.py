"""SQL out of what models say."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

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


# What models and word processors put around and between the words of a query.
ODD = "\u00a0\u2003\u200b\ufeff\u2018\u2019\u201c\u201d\u2013\u2014\uff08\uff1b\u2265&<>;\\n"
SPACES = st.lists(
    st.sampled_from([" ", "\n", "\u00a0", "\u2003", "\\n", "&nbsp;", " \u200b"]),
    min_size=1,
    max_size=2,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(
    spaces=st.lists(SPACES, min_size=7, max_size=7),
    quotes=st.sampled_from(["''", "\u2018\u2019", "\u2019\u2019"]),
    content=st.text(alphabet="ab '" + ODD, max_size=12),
)
def test_a_query_is_cleaned_and_no_literal_changes(
    spaces: list[str], quotes: str, content: str
) -> None:
    literal = "'" + content.replace("'", "''") + "'"
    words = ["SELECT", "a", "FROM", "t", "WHERE", "b", "= " + quotes[0] + "x" + quotes[1] + " AND"]
    text = "".join(f"{word}{space}" for word, space in zip(words, spaces, strict=True))
    found = extract_sql(f"{text}c = {literal}")
    before, _, after = found.partition(" AND")
    assert before.split() == ["SELECT", "a", "FROM", "t", "WHERE", "b", "=", "'x'"]
    assert after.split(maxsplit=2) == ["c", "=", literal]
