"""Every table of a query inside its filter (golden: fixtures/policy.sql), and checked again."""

from __future__ import annotations

import re

import pytest

from execution.allowlists import load_allowlist
from execution.duckdb.second_check import check_grammar as check_duckdb
from execution.guard.guard import guard_query
from execution.postgres.second_check import check_grammar
from execution.sqlite.second_check import check_wrapped
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.execution.policies.shop import compile_shop, find_access
from tests.fakes import ORDERS, SHOP
from tests.golden import ARROW, Pair, load_cases, load_pairs

PAIRS = load_pairs("policy")


def guard(sql: str, *roles: str) -> GuardedQuery:
    verdict = guard_query(sql, find_access(*(roles or ("clerk",))))
    assert not isinstance(verdict, Violation), verdict
    return verdict


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
def test_a_query_is_rewritten_as_in_the_golden_file(pair: Pair) -> None:
    assert guard(pair.before).sql == pair.after


def test_a_value_is_bound_once_however_often_it_is_used() -> None:
    query = guard("SELECT id FROM orders", "seller")
    assert [str(value) for value in query.params] == ["(1, 2)", "2024-01-01"]
    assert "ANY(CAST($1 AS bigint[]))" in query.sql
    assert "CAST($2 AS date)" in query.sql
    # A guarded query is a key: under it a plan that was found small enough is remembered.
    assert hash(query) == hash(guard("SELECT id FROM orders", "seller"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT o FROM orders AS o",
        "SELECT o.* FROM orders AS o",
        "SELECT row_to_json(o.*) FROM orders AS o",
        "SELECT a FROM orders AS o(a)",
        "SELECT 1 FROM orders NATURAL JOIN customers",
        "SELECT x.* FROM (orders CROSS JOIN products) AS x",
        "SELECT x FROM (orders CROSS JOIN products) AS x",
    ],
)
def test_what_is_about_all_columns_has_all_of_them(sql: str) -> None:
    for column in ORDERS.columns:
        assert f'"{column.name}"' in guard(sql).sql.partition("UNION ALL")[0]


@pytest.mark.parametrize(("code", "case"), load_cases("not_seen"))
def test_what_may_not_be_seen_is_told_from_what_is_not_there(code: str, case: str) -> None:
    sql, _, name = case.partition(ARROW)
    verdict = expect(Violation, guard_query(sql, find_access("clerk")))
    assert verdict.code == code
    assert name in verdict.fragment


def test_a_value_that_the_principal_lacks_is_named_where_it_is_needed() -> None:
    access = find_access("clerk", sellers=(1,))
    verdict = expect(Violation, guard_query("SELECT name FROM customers", access))
    assert (verdict.code, verdict.fragment) == ("not_permitted", "country")
    assert isinstance(guard_query("SELECT name FROM products", access), GuardedQuery)


# -- the second reading ------------------------------------------------------------------------

WRAPPER = (
    'SELECT _qsql_0."id" FROM "s"."t" AS _qsql_0 WHERE _qsql_0."d" = CAST($1 AS bigint) OFFSET 0'
)
WRAPPED = {"s.t": {WRAPPER}}
TAMPERED = {
    "bare_table": 'SELECT id FROM "s"."t" AS t',
    "filter_gone": 'SELECT id FROM (SELECT _qsql_0."id" FROM "s"."t" AS _qsql_0 OFFSET 0) AS t',
    "filter_weaker": f"SELECT id FROM ({WRAPPER.replace('$1', '$2')}) AS t",
    "filter_widened": f"SELECT id FROM ({WRAPPER.replace(' OFFSET', ' OR TRUE OFFSET')}) AS t",
    "barrier_gone": f"SELECT id FROM ({WRAPPER.replace(' OFFSET 0', '')}) AS t",
    "column_more": f"SELECT id FROM ({WRAPPER.replace('SELECT', 'SELECT _qsql_0.pay,')}) AS t",
    "joined": f"SELECT id FROM ({WRAPPER.replace('AS _qsql_0 ', 'AS _qsql_0, s.t AS u ')}) AS t",
    "table_beside": f'SELECT id FROM ({WRAPPER}) AS t, "s"."t" AS u',
    "other_table_beside": f'SELECT id FROM ({WRAPPER}) AS t, "s"."u" AS u',
    "comparison_turned": f"SELECT id FROM ({WRAPPER.replace(' = ', ' <> ')}) AS t",
    "bare_name_beside": f"SELECT t.id FROM ({WRAPPER}) AS t, u",
}


@pytest.mark.parametrize("sql", TAMPERED.values(), ids=TAMPERED)
def test_the_second_reading_refuses_what_is_not_exactly_wrapped(sql: str) -> None:
    tables = frozenset({"s.t"})
    allowlist = load_allowlist("postgres")
    assert isinstance(check_grammar(sql, sql, tables, allowlist, SHOP, WRAPPED), Violation)
    assert isinstance(check_duckdb(sql, tables, load_allowlist("duckdb"), WRAPPED), Violation)
    on_sqlite = {"s.t": {_on_sqlite(WRAPPER)}}
    assert isinstance(check_wrapped(_on_sqlite(sql), tables, on_sqlite), Violation)


def test_the_second_reading_accepts_what_is() -> None:
    sql = f"SELECT id FROM ({WRAPPER}) AS t WHERE id > 1"
    tables = frozenset({"s.t"})
    catalog = Catalog("lab", (Table("s", "t", (Column("id", "int"),)),))
    query = "SELECT id FROM s.t WHERE id > 1"
    assert check_grammar(query, sql, tables, load_allowlist("postgres"), catalog, WRAPPED) is None
    assert check_wrapped(_on_sqlite(sql), tables, {"s.t": {_on_sqlite(WRAPPER)}}) is None
    allowlist = load_allowlist("duckdb")
    again = WRAPPER.replace("SELECT", "select").replace("WHERE", "/* where */ WHERE")
    nested = f"SELECT id FROM ({again}) AS o WHERE EXISTS (FROM ({WRAPPER}) AS x)"
    for text in (sql, nested):
        assert check_duckdb(text, tables, allowlist, WRAPPED) is None
    unreadable = expect(Violation, check_duckdb(sql, tables, allowlist, {"a": ["?"]}))
    assert unreadable.code == "unfiltered_table"


def _on_sqlite(sql: str) -> str:
    return re.sub(r"CAST\(\$(\d) AS bigint\)", r"?\1", sql).replace("OFFSET", "LIMIT -1 OFFSET")


def test_a_filter_with_a_list_of_constants_is_recognised() -> None:
    compiled = compile_shop(
        clerk={"row_filters": {"sales.customers": "country IN ('DE', 'AT') OR id = 7"}}
    )
    access = find_access("clerk", compiled=compiled)
    assert isinstance(guard_query("SELECT name FROM customers", access), GuardedQuery)
