"""What the guard writes is what was written, or what it means (golden: fixtures/spellings.txt)."""

from __future__ import annotations

import pytest
from sqlglot.errors import ParseError

from execution.duckdb.dialect import GuardedDuckdb
from execution.guard.guard import guard_query
from execution.parsing.plain_dialect import split_operators
from execution.policies.access import open_access
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.execution.judging import pass_guard
from tests.execution.policies.shop import find_access
from tests.golden import load_changes

# Where the text stands, and what the guard writes around it.
AROUND = {
    "postgres output": (
        "SELECT {} FROM customers",
        'SELECT {} FROM "sales"."customers" AS customers',
    ),
    "sqlite output": (
        "SELECT {} AS x FROM customers",
        "SELECT {} AS x FROM sales.customers AS customers",
    ),
    "duckdb output": (
        "SELECT {} AS x FROM customers",
        'SELECT {} AS x FROM "sales"."customers" AS customers',
    ),
    "sqlite order": (
        "SELECT id FROM customers ORDER BY {}",
        "SELECT id FROM sales.customers AS customers ORDER BY {}",
    ),
    **{f"{dialect} query": ("{}", "{}") for dialect in ("postgres", "sqlite", "duckdb")},
}


def list_changes(*headings: str) -> list[tuple[str, str, str]]:
    return [
        (heading, *change) for heading in headings for change in load_changes("spellings", heading)
    ]


@pytest.mark.parametrize(("place", "written", "expected"), list_changes(*AROUND))
def test_a_text_is_written_as_it_means(place: str, written: str, expected: str) -> None:
    before, after = (text.replace("{}", "\0") for text in AROUND[place])
    query = pass_guard(before.replace("\0", written), place.split()[0])
    assert query.sql == after.replace("\0", expected)


@pytest.mark.parametrize("outputs", [written for _, written, _ in list_changes("meaning")])
def test_operators_are_grouped_as_they_were(outputs: str) -> None:
    """The guard lets pass only what PostgreSQL's grammar reads alike before and after."""
    columns = tuple(Column(name, "text") for name in "abcdixyz")
    access = open_access(Catalog("shop", (Table("main", "t", columns),)))
    expect(GuardedQuery, guard_query(f"SELECT {outputs} FROM main.t", access))


@pytest.mark.parametrize(
    ("dialect", "written", "spelled"),
    [
        (place.split()[0], *change)
        for place, *change in list_changes("postgres call", "sqlite call", "duckdb call")
    ],
)
def test_one_spelling_for_each_call(dialect: str, written: str, spelled: str) -> None:
    """What stays another call is refused."""
    catalog = Catalog("shop", (Table("main", "t", (Column("a", "text"),)),), dialect=dialect)
    verdict = guard_query(f"SELECT {written} AS x FROM main.t", open_access(catalog))
    if isinstance(verdict, Violation):
        assert verdict.code == spelled
    else:
        assert verdict.sql.startswith(f"SELECT {spelled} AS x FROM ")


@pytest.mark.parametrize(("_", "sql", "grouped"), list_changes("grouped"))
def test_columns_that_follow_from_a_key_are_grouped_by(_: str, sql: str, grouped: str) -> None:
    """Under a policy, whose derived tables have no key."""
    verdict = expect(GuardedQuery, guard_query(sql, find_access("clerk")))
    assert verdict.sql.rpartition(" GROUP BY ")[2] == grouped


def test_a_letter_without_width_stays_in_quotes() -> None:
    sql = "SELECT 'a\u200bb' AS \"c\u2060d\""
    assert pass_guard(sql, "duckdb").sql == sql


@pytest.mark.parametrize("written", [r"E'\xff'", r"E'\000'"])
def test_a_text_that_duckdb_does_not_read_is_an_error_of_the_parsers(written: str) -> None:
    # Not of Python's: sqlglot goes back and tries the next way after this one alone.
    with pytest.raises(ParseError):
        GuardedDuckdb().parse(f"SELECT {written}")


def test_a_long_run_of_signs_is_split_at_once() -> None:
    """The time grew with the cube of its length, in the thread that reads all texts."""
    assert split_operators("+-" * 9000) == ["+", "-"] * 9000
    assert split_operators("<" * 9000 + "-") == ["<" * 9000, "-"]
