"""Each reader by itself, on texts that the readers before it would not have let through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.allowlists import load_allowlist
from execution.duckdb.second_check import check_grammar as check_duckdb
from execution.guard.guard import SqlGuard, _check_again, guard_query
from execution.guard_dialects import parse_statements
from execution.policies.access import open_access
from execution.postgres.second_check import check_grammar, list_functions
from execution.sqlite.second_check import check_functions, check_wrapped
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.execution.expecting import expect
from tests.execution.policies.shop import compile_shop, find_access
from tests.fakes import SHOP, FakeCatalogs, build_table

ORDERS = '"sales"."orders" AS o'


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (f"SELECT o.id FROM {ORDERS}", ""),
        (f"SELECT o.f FROM {ORDERS}", "unexplained_column"),
        (f"SELECT sales.o.id FROM {ORDERS}", "unexplained_column"),
        (f"SELECT o.id.f FROM {ORDERS}", "unexplained_column"),
        (f"SELECT (o).id FROM {ORDERS}", "node_not_allowed"),
        (f"SELECT (ARRAY[o.id])[1] FROM {ORDERS}", ""),
        (f"SELECT (ARRAY[o])[1].f FROM {ORDERS}", "node_not_allowed"),
        (f"SELECT o.id OPERATOR(x.+) 1 FROM {ORDERS}", "operator_not_allowed"),
        (f"SELECT x.lower(o.status) FROM {ORDERS}", "function_not_allowed"),
        (f"SELECT pg_catalog.lower(o.status) FROM {ORDERS}", ""),
        (f"SELECT x.pg_catalog.lower(o.status) FROM {ORDERS}", "function_not_allowed"),
        (f"SELECT pg_sleep(1) FROM {ORDERS}", "function_not_allowed"),
        (f"SELECT current_user FROM {ORDERS}", "function_not_allowed"),
        (f"SELECT o.id::regclass FROM {ORDERS}", "type_not_allowed"),
        (f"SELECT 1 FROM {ORDERS}; SELECT 2", "multiple_statements"),
        ("SELECT 1", "tables_disagree"),
        (f'SELECT 1 FROM {ORDERS}, "sales"."customers" AS c', "tables_disagree"),
        (f"SELECT 1 FROM {ORDERS}, customers AS c", "tables_disagree"),
        (f"SELECT 1 FROM {ORDERS} FOR UPDATE", "node_not_allowed"),
        (f"SELECT 1 INTO x FROM {ORDERS}", "node_not_allowed"),
        (f"SELECT 1 FROM {ORDERS} WHERE", "unparsable"),
        (f"SELECT {' || '.join(['1'] * 3000)} FROM {ORDERS}", "unparsable"),
    ],
    ids=lambda value: value[:60],
)
def test_postgresqls_own_grammar(sql: str, code: str) -> None:
    found = check_grammar(sql, sql, frozenset({"sales.orders"}), load_allowlist("postgres"), SHOP)
    assert (found.code if found else "") == code, found


@pytest.mark.parametrize(
    "condition",
    [
        "id = 1",
        "id IN (1, 2)",
        "id = ANY(ARRAY[1, 2])",
        "status LIKE 'a%'",
        "lower(status) = 'a'",
        "id::text = '1'",
        "total > (SELECT 1)",
        "CASE WHEN id = 1 THEN true ELSE NOT id IS NULL END",
        'status COLLATE "C" > current_date::text',
        "(id, total) > ROW(1, 2)",
        "coalesce(id, 1) = greatest(1, 2)",
    ],
)
def test_a_wrapper_is_known_wherever_it_stands(condition: str) -> None:
    wrapper = f'SELECT _0."id" FROM "sales"."orders" AS _0 WHERE {condition}'
    allowlist = load_allowlist("postgres")
    for sql, code in (
        (f"SELECT o.id FROM ({wrapper}) AS o", ""),
        (f"SELECT   o.id\nFROM ({wrapper}) AS o", ""),
        (f"SELECT o.id FROM ({wrapper} OR 1 = 1) AS o", "unfiltered_table"),
    ):
        query = "SELECT o.id FROM orders AS o"
        tables = frozenset({"sales.orders"})
        found = check_grammar(query, sql, tables, allowlist, SHOP, {"sales.orders": [wrapper]})
        assert (found.code if found else "") == code, found


def test_what_a_text_calls_is_listed() -> None:
    sql = 'SELECT lab.f(lower(x)) FROM (SELECT pg_catalog.upper(y) AS x FROM "g(z)" AS h) AS a'
    assert list_functions(sql) == {"lab.f", "lower", "upper"}


def test_what_sqlglot_reads_a_second_time() -> None:
    tables = frozenset({"s.f", "s.b", "s.d"})
    text = 'SELECT 1 FROM "s"."f" AS f, "s"."b" AS b, "s"."d" AS d'
    assert check_wrapped(text, tables, None) is None
    for sql, code in (
        (f"{text} WHERE", "unparsable"),
        (f"{text}; SELECT 1", "multiple_statements"),
        ("DELETE FROM orders", "multiple_statements"),
    ):
        found = check_wrapped(sql, tables, None)
        assert found is not None
        assert found.code == code
    more = f'{text}, "s"."e" AS e, "s"."c" AS c, "s"."a" AS a, g'
    disagreement = check_wrapped(more, tables, None)
    assert disagreement is not None
    assert (disagreement.code, disagreement.fragment) == ("tables_disagree", "g, s.a, s.c, s.e")


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_the_guard_asks_a_second_reader(dialect: str) -> None:
    access = open_access(replace(SHOP, dialect=dialect))
    allowlist = load_allowlist(dialect)
    table, nothing = frozenset({"sales.orders"}), frozenset[str]()
    text = 'SELECT o.id FROM "sales"."orders" AS o'
    assert _check_again(text, text, table, {}, access, allowlist) is None
    for tables, sql in ((nothing, text), (table, "SELECT 1"), (table, f"{text}\0")):
        assert isinstance(_check_again(text, sql, tables, {}, access, allowlist), Violation)


# -- what was found once -----------------------------------------------------------------------


def judge(sql: str, dialect: str = "postgres") -> str:
    verdict = guard_query(sql, open_access(replace(SHOP, dialect=dialect)))
    return verdict.code if isinstance(verdict, Violation) else ""


def test_a_comment_may_stand_between_two_words() -> None:
    assert judge("SELECT id FROM orders ORDER/**/BY id") == ""
    assert judge("SELECT id FROM orders GROUP -- by\nBY id") == ""
    # In a comment, any sign may stand.
    assert judge("SELECT id /* \u3000 */ FROM orders -- \u3000") == ""


def test_a_cte_that_is_written_later_is_no_table_on_sqlite() -> None:
    sql = "WITH a AS (SELECT id FROM orders), orders AS (SELECT 1 AS id) SELECT id FROM a"
    assert judge(sql, "sqlite") == "unexplained_table"
    assert judge(sql) == ""


def test_a_hidden_column_in_double_quotes_is_no_string_on_sqlite() -> None:
    compiled = compile_shop(
        replace(SHOP, dialect="sqlite"),
        seller={"row_filters": {"sales.employees": "id IN :sellers"}, "rows": "all"},
    )
    verdict = guard_query(
        'SELECT "Loyalty Tier" FROM customers', find_access("clerk", compiled=compiled)
    )
    assert isinstance(verdict, Violation)
    assert verdict.code == "not_permitted"


def test_sqlites_own_list_refuses_a_table_as_a_list() -> None:
    (tree,) = parse_statements("SELECT id FROM orders WHERE id IN orders", "sqlite")
    assert tree is not None
    assert isinstance(check_functions(tree, load_allowlist("sqlite")), Violation)


def test_a_cte_over_its_namesake_in_a_schema_does_not_recurse_on_sqlite() -> None:
    sql = "WITH orders AS (SELECT id FROM sales.orders) SELECT id FROM orders"
    verdict = expect(GuardedQuery, guard_query(sql, open_access(replace(SHOP, dialect="sqlite"))))
    assert "RECURSIVE" not in verdict.sql


@pytest.mark.parametrize("tables", ["customers, products", "products, customers"])
def test_a_hidden_column_is_not_permitted_wherever_its_table_stands(tables: str) -> None:
    compiled = compile_shop(
        replace(SHOP, dialect="duckdb"),
        seller={"row_filters": {"sales.employees": "id IN :sellers"}, "rows": "all"},
    )
    access = find_access("clerk", compiled=compiled)
    joined = tables.replace(",", " CROSS JOIN")
    for source in (tables, f"({joined}) AS j"):
        for exception, code in (
            ('EXCLUDE ("Loyalty Tier")', "not_permitted"),
            ('REPLACE (1 AS "Loyalty Tier")', "not_permitted"),
            ("EXCLUDE (nothing)", "unknown_column"),
        ):
            verdict = expect(Violation, guard_query(f"SELECT * {exception} FROM {source}", access))
            assert verdict.code == code, verdict


def test_a_view_that_some_role_sees_as_a_table_is_one() -> None:
    view = replace(
        build_table("sales.open_orders", "id integer", "total numeric", kind="view"),
        definition="SELECT id, total FROM sales.orders ORDER/**/BY id",
    )
    catalog = replace(SHOP, tables=(*SHOP.tables, view))
    visible = ["sales.customers", "sales.orders", "sales.open_orders"]
    compiled = compile_shop(catalog, clerk={"tables": {"visible": visible}})
    for roles, is_table in ((("clerk",), False), (("clerk", "boss"), True)):
        access = find_access(*roles, compiled=compiled)
        verdict = expect(GuardedQuery, guard_query("SELECT id FROM open_orders", access))
        assert ('"open_orders"' in verdict.sql) == is_table
        assert ("sales.open_orders" in verdict.tables) == is_table


def test_what_one_role_expands_takes_no_filter_from_another() -> None:
    view = replace(
        build_table("sales.open_orders", "id integer", "total numeric", kind="view"),
        definition="SELECT id, total FROM sales.orders",
    )
    visible = ["sales.customers", "sales.orders", "sales.open_orders"]
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, view)),
        clerk={"tables": {"visible": visible}},
        seller={
            "tables": {"visible": ["sales.open_orders"]},
            "row_filters": {"sales.open_orders": "total > 5"},
            "masked_columns": {},
        },
    )
    access = find_access("clerk", "seller", compiled=compiled)
    verdict = expect(GuardedQuery, guard_query("SELECT id FROM open_orders", access))
    assert verdict.predicates == ('sales.open_orders: _0."total" > 5',)


async def test_a_catalog_that_is_indexed_anew_is_compiled_anew() -> None:
    catalogs = FakeCatalogs(SHOP)
    guard = SqlGuard(catalogs)
    ann, sql = Principal("ann"), "SELECT id FROM notes"
    assert isinstance(await guard.guard("shop", sql, ann), Violation)
    notes = build_table("sales.notes", "id integer")
    catalogs.catalogs["shop"] = replace(SHOP, tables=(*SHOP.tables, notes))
    assert isinstance(await guard.guard("shop", sql, ann), GuardedQuery)


@pytest.mark.parametrize(
    ("bound", "code"), [("WHERE i < 5", ""), ("WHERE i > 0", "endless_recursion")]
)
def test_a_cte_recurses_on_sqlite_without_being_told(bound: str, code: str) -> None:
    sql = f"WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n {bound}) SELECT i FROM n"
    assert judge(sql, "sqlite") == code


PAIR = "sales.orders AS o {} JOIN sales.customers AS c"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT o.id FROM sales.orders AS o", "tables_disagree"),
        (f"SELECT 1 FROM {PAIR.format('CROSS')}", ""),
        (f"SELECT 1 FROM {PAIR.format('NATURAL')}", ""),
        (f"SELECT 1 FROM {PAIR.format('POSITIONAL')}", ""),
        (f"SELECT 1 FROM {PAIR.format('ASOF')} ON o.id >= c.id", ""),
        (f"SELECT 1 FROM {PAIR.format('CROSS')}, upper('a')", "function_not_allowed"),
        (f"SELECT 1 FROM {PAIR.format('CROSS')}, range(3)", ""),
        (f"SELECT 1 FROM {PAIR.format('CROSS')}, json_each('[1]')", ""),
        (f"SELECT 1 FROM {PAIR.format('CROSS')} LIMIT 5%", ""),
        (
            "SELECT sum(o.id) OVER (ORDER BY o.id ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) "
            f"FROM {PAIR.format('CROSS')}",
            "",
        ),
        (f"SELECT o.id BETWEEN 1 AND 2 FROM {PAIR.format('CROSS')}", ""),
        (f"SELECT o.id -> '$.a' FROM {PAIR.format('CROSS')}", ""),
        (f"SELECT lag(o.id, 1, 2) OVER (ORDER BY o.id) FROM {PAIR.format('CROSS')}", ""),
        (f"SELECT 1 FROM {PAIR.format('CROSS')}, x", "unknown_table"),
        (f"SELECT 1 FROM {PAIR.format('CROSS')}, a.b.c", "unknown_table"),
        (f"SELECT main.lower('a') FROM {PAIR.format('CROSS')}", "function_not_allowed"),
        (
            "WITH RECURSIVE n AS (SELECT 1 AS i FROM n UNION ALL SELECT i + 1 FROM n) "
            f"SELECT 1 FROM {PAIR.format('CROSS')}, n",
            "unknown_table",
        ),
        (
            "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) "
            f"SELECT 1 FROM {PAIR.format('CROSS')}, n",
            "",
        ),
        (f"SELECT 1 FROM {PAIR.format('CROSS')} ORDER BY ALL", ""),
        (f"SELECT 1 FROM {PAIR.format('CROSS')} ORDER BY getenv('a')", "function_not_allowed"),
        (f"SELECT COLUMNS('id') FROM {PAIR.format('CROSS')}", "node_not_allowed"),
    ],
    ids=lambda value: value[:60],
)
def test_duckdbs_own_grammar(sql: str, code: str) -> None:
    tables = frozenset({"sales.orders", "sales.customers"})
    found = check_duckdb(sql, tables, load_allowlist("duckdb"))
    assert (found.code if found else "") == code, found


def test_half_of_a_surrogate_pair_is_no_text_to_duckdb() -> None:
    found = check_duckdb(f"SELECT '{chr(0xD800)}'", frozenset(), load_allowlist("duckdb"))
    assert found is not None
    assert found.code == "unparsable"
