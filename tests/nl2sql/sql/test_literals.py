"""Which texts of a query are shown where no cell values may be sent."""

from __future__ import annotations

import pytest

from nl2sql.sql.literals import mask_texts
from nl2sql.sql.parsing import MOST_CHARS
from tests.golden import load_changes

KNOWN = "Orders from Oslo since May, of O'Hara and smith, in Order Details"


@pytest.mark.parametrize(("written", "shown"), load_changes("shown_literals"))
def test_a_text_is_shown_if_the_question_has_it_or_it_is_a_word_of_sql(
    written: str, shown: str
) -> None:
    assert mask_texts(f"SELECT {written}", "postgres", KNOWN) == f"SELECT {shown}"


def test_double_quotes_on_sqlite_may_be_those_of_a_text() -> None:
    sql = 'SELECT x FROM "Order Details" WHERE city = "Bergen" AND b = "OSLO"'
    masked = mask_texts(sql, "sqlite", KNOWN)
    assert masked == "SELECT x FROM \"Order Details\" WHERE city = '…' AND b = '…'"


@pytest.mark.parametrize("sql", ["SELECT 'secret", f"SELECT '{'x' * MOST_CHARS}'"])
def test_nothing_is_shown_of_what_cannot_be_read(sql: str) -> None:
    assert mask_texts(sql, "postgres", sql) == ""


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_the_rest_stays_as_it_is(dialect: str) -> None:
    sql = "SELECT a.b, count(*)\nFROM a JOIN c ON a.x = c.x WHERE d IN (1, 2) LIMIT 3"
    assert mask_texts(sql, dialect, "") == sql.replace("\n", " ")
