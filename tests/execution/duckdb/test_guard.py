"""The guard on DuckDB: its readers, and that nothing changes what a query means.

What it refuses is in ``tests/attacks``. The oracle runs each harmless query twice, as it was
written by plain DuckDB and as the guard wrote it through the read-only database, and wants the same
rows.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow
import pytest

from execution.allowlists import load_allowlist
from execution.duckdb.database import DuckDbDatabase
from execution.duckdb.second_check import (
    check_grammar,
    check_statement,
    list_functions,
    open_parser,
)
from execution.guard.guard import SqlGuard, guard_query
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from nl2sql.results.equivalence import are_equivalent
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from tests.execution.duckdb.shop import LIMITS, ExposedShop, write
from tests.execution.expecting import expect
from tests.fakes import FakeCatalogs
from tests.golden import Pair, load_pairs

PAIRS = load_pairs("guard_duckdb")


async def judge(exposed: ExposedShop, sql: str) -> GuardedQuery | Violation:
    catalogs = FakeCatalogs(exposed.catalog)
    return await SqlGuard(catalogs).guard("shop", sql, Principal("tester"))


async def guard(exposed: ExposedShop, sql: str) -> GuardedQuery:
    verdict = await judge(exposed, sql)
    assert not isinstance(verdict, Violation), verdict
    return verdict


# A generated column, which no plan names, and columns that are added to a file once it is indexed.
_NAMESAKES = """
CREATE TABLE people (id INTEGER PRIMARY KEY, country VARCHAR);
CREATE TABLE bills (id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES people (id),
  half INTEGER, hidden INTEGER,
  whole INTEGER GENERATED ALWAYS AS (half * 2));
CREATE TABLE parts (id INTEGER, bill_id INTEGER REFERENCES bills (id));
INSERT INTO people VALUES (1, 'DE'), (2, 'FR');
INSERT INTO bills VALUES (10, 1, 4, 5), (20, 2, 6, 7);
INSERT INTO parts VALUES (1, 10), (2, 20), (3, 20);
"""
_ADDED = """
ALTER TABLE people ADD COLUMN "_1" STRUCT(person_id INTEGER);
ALTER TABLE bills ADD COLUMN "_0" STRUCT(bill_id INTEGER);
UPDATE people SET "_1" = {'person_id': id};
UPDATE bills SET "_0" = {'bill_id': id};
"""


async def test_no_column_is_called_like_an_alias_of_the_guard(tmp_path: Path) -> None:
    path = tmp_path / "bills.duckdb"
    write(path, _NAMESAKES)
    role = {"tables": {"visible": "*"}, "row_filters": {"main.people": "country = 'DE'"}}
    policy = parse_policy({"version": 1, "roles": {"clerk": role}})
    access = CompiledPolicy(policy, read_duckdb_catalog(path, database="bills")).access(
        Principal("tester", ("clerk",))
    )
    with duckdb.connect(path) as connection:
        connection.execute(_ADDED)
    database = DuckDbDatabase("bills", path, LIMITS)
    for sql, row in (
        ("WITH c AS (FROM parts) SELECT id FROM c", (1,)),
        ("SELECT whole FROM bills", (8,)),
    ):
        query = expect(GuardedQuery, guard_query(sql, expect(Access, access)))
        assert expect(ResultSet, await database.execute(query, 9)).rows == (row,)
        # Should the guard err, the last check sees that a column is read that it did not find.
        astray = replace(query, sql="SELECT hidden FROM main.bills", tables=("main.bills",))
        assert expect(Diagnostic, await database.execute(astray, 9)).sqlstate == "42501"
    await database.close()


async def test_a_comment_within_a_comment_hides_nothing(exposed: ExposedShop) -> None:
    query = await guard(exposed, "SELECT 1 AS x /* /* */; DROP VIEW totals -- */")
    assert query.sql == "SELECT 1 AS x"


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
async def test_a_harmless_query_keeps_its_meaning(
    pair: Pair, exposed: ExposedShop, path: Path
) -> None:
    query = await guard(exposed, pair.before)
    assert query.sql == pair.after
    assert await guard(exposed, query.sql) == query
    with duckdb.connect(path) as connection:
        rows = connection.execute(pair.before).fetchall()
    result = await exposed.database.execute(query, 1000)
    assert isinstance(result, ResultSet), result
    # Without ORDER BY, DuckDB's threads decide which row comes first.
    assert are_equivalent(result.rows, rows, ordered="ORDER BY" in pair.before)


# -- the second opinion ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{file}')",
        "ATTACH '{file}.db' AS other",
        "COPY (SELECT 1) TO '{file}'",
        "SELECT * FROM in_memory",
        "SET threads = 4",
    ],
)
def test_what_parses_could_reach_nothing_if_it_ran(sql: str, tmp_path: Path) -> None:
    file = tmp_path / "file.csv"
    file.write_text("a\n1\n", encoding="utf-8")
    # DuckDB reads tables of Python's by the names of their variables.
    in_memory = pyarrow.table({"a": [1]})
    assert in_memory.num_rows == 1
    # One of its own, not the one that is kept.
    with open_parser.__wrapped__() as connection, pytest.raises(duckdb.Error):
        connection.execute(sql.format(file=file))
    assert file.read_text(encoding="utf-8") == "a\n1\n"


def test_a_function_is_judged_by_the_name_under_which_duckdb_looks_it_up() -> None:
    sql = "SELECT INTERVAL 1 DAY, 'a' LIKE 'b', Count(*), EXTRACT(year FROM a) FROM range(abs(-3))"
    called = list_functions(sql)
    assert called == {"to_days", "trunc", "~~", "count_star", "date_part", "abs"}
    assert called <= load_allowlist("duckdb").functions
    assert list_functions("SELECT main.f(x)") == {"main.f"}
    assert list_functions("DELETE FROM a WHERE lower(b)") == frozenset()


def test_what_wrappers_call_may_be_called_in_a_statement_and_macros_may_not() -> None:
    allowlist = load_allowlist("duckdb")
    narrow = replace(allowlist, functions=allowlist.functions - {"list_contains", "sha256"})
    for sql in ("SELECT sha256('a')", "SELECT list_contains([1], 1)"):
        assert check_statement(sql, (), narrow) is None
        refused = check_grammar(sql, frozenset(), narrow)
        assert refused is not None
        assert refused.code == "function_not_allowed"
    # So is a cast to any type: a masked column is a NULL of its own.
    assert check_statement("SELECT CAST(NULL AS main.mood)", (), narrow) is None
    refused = check_grammar("SELECT CAST(NULL AS main.mood)", frozenset(), narrow)
    assert refused is not None
    assert refused.code == "type_not_allowed"
    # The values of a policy are bound.
    assert check_statement("SELECT $1", (), narrow) is None
    assert check_statement("SELECT sha256('a')", (), narrow, macros=frozenset({"sha256"}))


def test_a_name_behind_a_schema_is_none_of_the_list() -> None:
    allowlist = load_allowlist("duckdb")
    odd = replace(allowlist, functions=allowlist.functions | {"main.f"})
    assert check_grammar('SELECT "main.f"(1)', frozenset(), odd) is None
    refused = check_grammar("SELECT main.f(1)", frozenset(), odd)
    assert refused is not None
    assert refused.code == "function_not_allowed"


def test_ctes_in_ctes_are_read_once() -> None:
    """Twice each would be without end."""
    sql = "SELECT 1 AS id"
    for _ in range(40):
        sql = f"WITH a AS ({sql}) SELECT id FROM a"
    assert check_grammar(sql, frozenset(), load_allowlist("duckdb")) is None
