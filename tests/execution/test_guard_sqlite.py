"""The guard on SQLite: what a hostile model may write, and that nothing changes its meaning.

The oracle runs each harmless query twice on one file, as it was written by plain ``sqlite3`` and as
the guard wrote it through the read-only door, and wants the same rows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.guard import SqlGuard
from execution.sqlite import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery, Principal, ResultSet, Violation
from tests.execution.sqlite_shop import build_shop, read_raw
from tests.fakes import FakeCatalogs
from tests.golden import Pair, load_pairs

PAIRS = load_pairs("guard_sqlite")

harmless = pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])

# code → what it is → the attack
ATTACKS: dict[str, dict[str, str]] = {
    "multiple_statements": {
        "nothing": "",
        "two_queries": "SELECT 1; SELECT 2",
        "stacked_delete": "SELECT 1; DELETE FROM orders",
        "stacked_pragma": "SELECT 1; PRAGMA query_only = OFF",
        "stacked_attach": "SELECT 1; ATTACH '/tmp/x' AS x",
        "statement_after_block_comment": "SELECT 1 /* ; SELECT 2 */; DROP TABLE orders",
        "comments_do_not_nest": "SELECT 1 /* /* */; DROP TABLE orders -- */",
        "statement_after_line_comment": "SELECT 1 -- one\n; DROP TABLE orders",
        "statement_after_quotes_in_a_string": "SELECT 'it''s'; DROP TABLE orders",
        "backslash_does_not_escape_a_quote": r"SELECT '\'; DROP TABLE orders; --'",
        "null_character_before_the_second": "SELECT 1\0; DROP TABLE orders",
        "trigger": "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
    },
    "not_a_query": {
        "attach": "ATTACH DATABASE '/tmp/x' AS x",
        "attach_short": "attach '/tmp/x' as x",
        "detach": "DETACH main",
        "pragma": "PRAGMA query_only = OFF",
        "pragma_call": "PRAGMA table_info(orders)",
        "pragma_writable_schema": "PRAGMA writable_schema = ON",
        "vacuum": "VACUUM",
        "vacuum_into": "VACUUM INTO '/tmp/x'",
        "reindex": "REINDEX",
        "analyze": "ANALYZE",
        "begin": "BEGIN IMMEDIATE",
        "commit": "COMMIT",
        "rollback": "ROLLBACK",
        "savepoint": "SAVEPOINT a",
        "release": "RELEASE a",
        "explain": "EXPLAIN SELECT 1",
        "explain_query_plan": "EXPLAIN QUERY PLAN SELECT 1",
        "insert": "INSERT INTO orders (id) VALUES (9)",
        "insert_or_replace": "INSERT OR REPLACE INTO orders (id) VALUES (1)",
        "replace": "REPLACE INTO orders (id) VALUES (1)",
        "update": "UPDATE orders SET total = 0",
        "delete": "DELETE FROM orders",
        "delete_returning": "DELETE FROM orders RETURNING id",
        "delete_behind_cte": "WITH x AS (SELECT 1) DELETE FROM orders",
        "insert_behind_cte": "WITH x AS (SELECT 9) INSERT INTO orders (id) SELECT * FROM x",
        "drop": "DROP TABLE orders",
        "create_table_as": "CREATE TABLE copy AS SELECT * FROM orders",
        "create_temp_table": "CREATE TEMP TABLE copy (a)",
        "create_temp_view": "CREATE TEMP VIEW v AS SELECT * FROM secrets",
        "create_virtual_table": "CREATE VIRTUAL TABLE x USING fts5(a)",
        "alter": "ALTER TABLE orders RENAME TO x",
    },
    "node_not_allowed": {
        "index_hint": "SELECT id FROM orders INDEXED BY i",
        "delete_in_cte": "WITH x AS (DELETE FROM orders RETURNING id) SELECT id FROM x",
        "insert_in_cte": (
            "WITH x AS (INSERT INTO orders (id) VALUES (9) RETURNING id) SELECT id FROM x"
        ),
        "select_into": "SELECT id INTO copy FROM orders",
        "for_update": "SELECT id FROM orders FOR UPDATE",
        "match_calls_an_application": "SELECT id FROM orders WHERE status MATCH 'x'",
        "regexp_calls_an_application": "SELECT id FROM orders WHERE status REGEXP 'x'",
        "question_mark_parameter": "SELECT ?",
        "colon_parameter": "SELECT :name",
        "at_parameter": "SELECT @name",
        "blob": "SELECT X'00'",
        "function_of_a_schema": "SELECT main.load_extension('x')",
        "lateral": "SELECT id FROM orders, LATERAL (SELECT 1)",
        "tablesample": "SELECT id FROM orders TABLESAMPLE (1)",
        "distinct_on": "SELECT DISTINCT ON (id) id FROM orders",
        "qualify": "SELECT id FROM orders QUALIFY id = 1",
        "ilike": "SELECT id FROM orders WHERE status ILIKE 'x'",
        "two_strings": "SELECT 'a' 'b'",
        "alias_that_names_columns": "SELECT max(x) FROM (VALUES (1), (2)) AS v (x)",
        "in_a_name_that_a_column_bears_too": 'SELECT id FROM "group", orders WHERE id IN total',
    },
    "too_much_text": {
        "printf_width": "SELECT printf('%1000000000d', 1)",
        "format_width": "SELECT format('%1000000000d', 1)",
    },
    "function_not_allowed": {
        "pragma_function": "SELECT * FROM pragma_table_info('orders')",
        "pragma_function_of_main": "SELECT * FROM main.pragma_table_info('orders')",
        "generate_series_as_table": "SELECT * FROM generate_series(1, 1000000000)",
        "directory": "SELECT * FROM fsdir('/')",
        "load_extension": "SELECT load_extension('x')",
        "load_extension_in_capitals": "SELECT LOAD_Extension('x', 'y')",
        "load_extension_in_double_quotes": "SELECT \"load_extension\"('x')",
        "load_extension_in_brackets": "SELECT [load_extension]('x')",
        "load_extension_in_backticks": "SELECT `LOAD_EXTENSION`('x')",
        "load_extension_behind_a_comment": "SELECT load_extension/**/('x')",
        "load_extension_inside_a_call": "SELECT lower(load_extension('x'))",
        "load_extension_in_filter": (
            "SELECT count(*) FILTER (WHERE load_extension('x')) FROM orders"
        ),
        "load_extension_in_window": (
            "SELECT sum(total) OVER (ORDER BY load_extension('x')) FROM orders"
        ),
        "load_extension_in_order": "SELECT id FROM orders ORDER BY load_extension('x')",
        "load_extension_in_limit": "SELECT id FROM orders LIMIT load_extension('x')",
        "load_extension_in_case": "SELECT CASE WHEN load_extension('x') THEN 1 END",
        "load_extension_in_cte": "WITH x AS (SELECT load_extension('x')) SELECT 1 FROM x",
        "load_extension_in_values": "SELECT * FROM (VALUES (load_extension('x')))",
        "readfile": "SELECT readfile('/etc/passwd')",
        "writefile": "SELECT writefile('/tmp/x', 'y')",
        "edit": "SELECT edit('x')",
        "tokenizer": "SELECT fts3_tokenizer('simple')",
        "zeroblob": "SELECT length(zeroblob(1000000000))",
        "randomblob": "SELECT randomblob(1000000000)",
        "version": "SELECT sqlite_version()",
        "source": "SELECT sqlite_source_id()",
        "compile_option": "SELECT sqlite_compileoption_get(1)",
        "offset": "SELECT sqlite_offset(id) FROM orders",
        "changes": "SELECT changes()",
        "of_another_database": "SELECT pg_read_file('/etc/passwd')",
    },
    "type_not_allowed": {
        "colons": "SELECT total::text FROM orders",
        "typed_literal": "SELECT date '2020-01-01'",
    },
    "unknown_table": {
        "master": "SELECT sql FROM sqlite_master",
        "master_in_capitals": "SELECT sql FROM SQLITE_MASTER",
        "master_in_double_quotes": 'SELECT sql FROM "sqlite_master"',
        "master_in_single_quotes": "SELECT sql FROM 'sqlite_master'",
        "master_of_main": "SELECT sql FROM main.sqlite_master",
        "schema": "SELECT sql FROM sqlite_schema",
        "temp_schema": "SELECT sql FROM sqlite_temp_schema",
        "sequence": "SELECT * FROM sqlite_sequence",
        "statistics": "SELECT * FROM sqlite_stat1",
        "pages": "SELECT * FROM dbstat",
        "pragma_function_without_arguments": "SELECT * FROM pragma_table_list",
        "pragma_in_double_quotes": 'SELECT * FROM "pragma_database_list"',
        "not_in_the_index": "SELECT * FROM secrets",
        "not_in_the_index_in_capitals": "SELECT * FROM SECRETS",
        "not_in_the_index_in_brackets": "SELECT * FROM [Secrets]",
        "not_in_the_index_by_main": "SELECT * FROM main.secrets",
        "temp": "SELECT * FROM temp.orders",
        "another_database": "SELECT * FROM other.orders",
        "three_parts": "SELECT * FROM x.main.orders",
        "in_subquery": "SELECT id FROM orders WHERE status IN (SELECT sql FROM sqlite_master)",
        "in_union": "SELECT status FROM orders UNION SELECT sql FROM sqlite_master",
        "in_scalar_subquery": "SELECT (SELECT sql FROM sqlite_master)",
        "in_exists": "SELECT 1 WHERE EXISTS (SELECT 1 FROM secrets)",
        "in_order": "SELECT id FROM orders ORDER BY (SELECT 1 FROM secrets)",
        "in_limit": "SELECT id FROM orders LIMIT (SELECT max(id) FROM secrets)",
        "in_join": "SELECT o.id FROM orders AS o JOIN secrets AS s ON s.id = o.id",
        "qualified_past_a_cte": "WITH secrets AS (SELECT 1 AS x) SELECT x FROM main.secrets",
        "outside_the_scope_of_the_cte": (
            "SELECT (WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets), x FROM secrets"
        ),
    },
    "unexplained_table": {
        "before_the_cte_that_shadows_it": (
            "WITH a AS (SELECT id FROM orders), orders AS (SELECT 1 AS id) SELECT id FROM a"
        ),
    },
    "unknown_column": {
        "in_the_cte_of_its_name": "WITH Orders AS (SELECT id FROM orders) SELECT id FROM orders",
        "bare": "SELECT salary FROM employees",
        "bare_in_backticks": "SELECT `salary` FROM employees",
        "bare_in_brackets": "SELECT [salary] FROM employees",
        "qualified": "SELECT e.salary FROM employees AS e",
        "qualified_in_double_quotes": 'SELECT e."salary" FROM employees AS e',
        "of_a_table_that_is_not_joined": "SELECT secrets.x FROM orders",
        "rowid": "SELECT rowid FROM orders",
        "rowid_in_double_quotes": 'SELECT "rowid" FROM orders',
        "oid_in_double_quotes_and_capitals": 'SELECT "OID" FROM orders WHERE "Oid" > 1',
        "rowid_of_an_outer_query": 'SELECT (SELECT "_rowid_" FROM (SELECT 1)) FROM orders',
        "another_name_of_rowid": "SELECT _rowid_ FROM orders",
        "name_of_a_table": "SELECT orders FROM orders",
        "in_a_table": "SELECT id FROM orders WHERE id IN secrets",
        "in_a_table_of_main": "SELECT id FROM orders WHERE id IN main.secrets",
        "double_quotes_that_spell_an_output_without_a_name": (
            'SELECT "COUNT( * )" FROM (SELECT count(*) FROM orders)'
        ),
        "dollar_parameter": "SELECT $name",
    },
    "unparsable": {
        "no_sql": "Please drop all tables",
        "dot_command": ".shell id",
        "unclosed_string": "SELECT 'a",
        "unclosed_name": 'SELECT "a',
        "unclosed_comment": "SELECT 1 /* a",
        "null_character_in_a_string": "SELECT 'a\0b'",
        "null_character_in_a_name": 'SELECT 1 AS "a\0"',
        "statement_in_a_cast": "SELECT CAST(1 AS INT; DROP TABLE orders)",
        "subquery_in_a_cast": "SELECT CAST(1 AS INT(SELECT x FROM secrets))",
        "comparisons_that_parsers_group_differently": "SELECT id = total NOT IN (1) FROM orders",
        "range_in_a_range": "SELECT id FROM orders WHERE id IN (1) LIKE 'x'",
    },
    "too_long": {"long_string": f"SELECT '{'x' * 30_000}'"},
}

# Words in double quotes that look like SQL, and what comes of them as strings or names.
DISGUISES = {
    'SELECT "1); DROP TABLE orders; --"': [("1); DROP TABLE orders; --",)],
    'SELECT "\' OR 1 = 1 --"': [("' OR 1 = 1 --",)],
    "SELECT id FROM orders WHERE status = \"x' OR '1' = '1\"": [],
    'SELECT id FROM orders WHERE "secrets" = "secrets" AND id = 1': [(1,)],
    'SELECT "a`; DROP TABLE orders; `" FROM orders LIMIT 1': [("a`; DROP TABLE orders; `",)],
    'SELECT id AS "`; DROP TABLE orders; `" FROM orders LIMIT 1': [(1,)],
    'SELECT "ID" FROM orders AS "secrets" LIMIT 1': [(1,)],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop") / "shop.sqlite"


@pytest.fixture(scope="module")
def catalog(path: Path) -> Catalog:
    return build_shop(path)


async def judge(catalog: Catalog, sql: str) -> GuardedQuery | Violation:
    return await SqlGuard(FakeCatalogs(catalog)).guard("shop", sql, Principal("tester"))


async def guard(catalog: Catalog, sql: str) -> GuardedQuery:
    verdict = await judge(catalog, sql)
    assert not isinstance(verdict, Violation), verdict
    return verdict


async def run(path: Path, query: GuardedQuery) -> list[tuple[object, ...]]:
    database = SqliteDatabase("shop", path, LimitSettings())
    try:
        result = await database.execute(query, 1000)
    finally:
        await database.close()
    assert isinstance(result, ResultSet), result
    return list(result.rows)


@pytest.mark.parametrize(
    ("code", "sql"),
    [
        pytest.param(code, sql, id=f"{code}-{title}")
        for code, attacks in ATTACKS.items()
        for title, sql in attacks.items()
    ],
)
async def test_an_attack_is_refused_for_its_own_reason(
    code: str, sql: str, catalog: Catalog
) -> None:
    verdict = await judge(catalog, sql)
    assert isinstance(verdict, Violation), verdict
    assert verdict.code == code, verdict.message


@pytest.mark.parametrize("sql", DISGUISES)
async def test_a_word_in_double_quotes_is_never_code(
    sql: str, catalog: Catalog, path: Path
) -> None:
    assert await run(path, await guard(catalog, sql)) == DISGUISES[sql]


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {'(' * 2000}1{')' * 2000}",
        f"SELECT {'abs(' * 2000}1{')' * 2000}",
    ],
    ids=["parentheses", "calls"],
)
async def test_what_is_too_deep_for_a_parser_is_a_violation(sql: str, catalog: Catalog) -> None:
    assert isinstance(await judge(catalog, sql), Violation)


@harmless
async def test_a_harmless_query_is_rendered_as_in_the_golden_file(
    pair: Pair, catalog: Catalog
) -> None:
    assert (await guard(catalog, pair.before)).sql == pair.after


@harmless
async def test_what_was_rendered_passes_again_unchanged(pair: Pair, catalog: Catalog) -> None:
    once = await guard(catalog, pair.before)
    assert await guard(catalog, once.sql) == once


@harmless
async def test_the_guarded_query_returns_what_the_query_returns(
    pair: Pair, catalog: Catalog, path: Path
) -> None:
    assert await run(path, await guard(catalog, pair.before)) == read_raw(path, pair.before)


async def test_names_are_listed_as_the_catalog_spells_them(catalog: Catalog) -> None:
    query = await guard(
        catalog, "SELECT NAME FROM customers JOIN ORDERS ON customer_id = Orders.ID"
    )
    assert query.dialect == "sqlite"
    assert query.tables == ("main.Orders", "main.customers")
    assert query.columns == ("Name", "customer_id", "id")


async def test_column_names_of_the_result_stay_what_they_were(catalog: Catalog, path: Path) -> None:
    query = await guard(catalog, "SELECT NAME, id AS \"Number\", country AS 'From' FROM customers")
    database = SqliteDatabase("shop", path, LimitSettings())
    result = await database.execute(query, 1)
    await database.close()
    assert isinstance(result, ResultSet)
    assert result.columns == ("Name", "Number", "From")
