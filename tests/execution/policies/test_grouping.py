"""GROUP BY on a primary key, where a derived table without a key has taken the table's place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.allowlists import load_allowlist
from execution.guard.guard import guard_query
from nl2sql.types import GuardedQuery
from tests.execution.expecting import expect
from tests.execution.policies.shop import compile_shop, find_access
from tests.fakes import SHOP, build_table

CASES = {
    "key": ("SELECT id, name FROM customers GROUP BY id", 'id, "customers"."name"'),
    "several_columns": (
        "SELECT id, name, country FROM customers GROUP BY customers.id",
        'customers.id, "customers"."country", "customers"."name"',
    ),
    "output_by_number": ("SELECT name, id FROM customers GROUP BY 2", '2, "customers"."name"'),
    "first_output_by_number": (
        "SELECT id, name FROM customers GROUP BY 1",
        '1, "customers"."name"',
    ),
    "output_under_a_name": (
        "SELECT id AS n, name FROM customers GROUP BY 1",
        '1, "customers"."name"',
    ),
    "number_of_no_output": ("SELECT id, name FROM customers GROUP BY 3", "3"),
    "number_of_too_many_digits": (
        f"SELECT id, name FROM customers GROUP BY {'1' * 5000}",
        "1" * 5000,
    ),
    "number_with_noughts": ("SELECT id, name FROM customers GROUP BY 01", '01, "customers"."name"'),
    "number_before_the_first": ("SELECT name, id FROM customers GROUP BY 0", "0"),
    "text": ("SELECT id, name FROM customers GROUP BY '1'", "'1'"),
    "fraction": ("SELECT id, name FROM customers GROUP BY 1.5", "1.5"),
    "expression": ("SELECT id + 1, name FROM customers GROUP BY 1", "1"),
    "no_key": ("SELECT name, count(*) FROM customers GROUP BY name", "name"),
    "whole_key_of_two_columns": (
        "SELECT order_id, line_no, price FROM order_lines GROUP BY order_id, line_no",
        'order_id, line_no, "order_lines"."price"',
    ),
    "part_of_a_key": ("SELECT order_id, price FROM order_lines GROUP BY order_id", "order_id"),
    "key_of_another_table": (
        "SELECT o.id, c.name FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY o.id",
        "o.id",
    ),
    "keys_of_two_tables": (
        "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY o.id, c.id",
        'o.id, c.id, "c"."name"',
    ),
    "grouping_sets": (
        "SELECT id, name FROM customers GROUP BY GROUPING SETS ((id), ())",
        "GROUPING SETS ((id), ())",
    ),
    "rollup": ("SELECT id FROM customers GROUP BY id, ROLLUP (name)", "id, ROLLUP (name)"),
    "cube": ("SELECT id FROM customers GROUP BY id, CUBE (name)", "id, CUBE (name)"),
    "rollup_beside_a_key": (
        "SELECT id, name, country FROM customers GROUP BY id, ROLLUP (name)",
        'id, ROLLUP (name), "customers"."country"',
    ),
    "one_grouping_set": (
        "SELECT id, name FROM customers GROUP BY GROUPING SETS ((id))",
        'GROUPING SETS ((id)), "customers"."name"',
    ),
    "renamed_columns": ("SELECT a, b FROM customers AS c(a, b) GROUP BY a", 'a, "c"."b"'),
    "renamed_to_the_key": ("SELECT a, id FROM customers AS c(a, id) GROUP BY c.id", "c.id"),
    "key_in_parentheses": (
        "SELECT id, name FROM customers GROUP BY ((id))",
        '((id)), "customers"."name"',
    ),
    "key_among_several_in_parentheses": (
        "SELECT id, name, country FROM customers GROUP BY (id, country)",
        '(id, country), "customers"."name"',
    ),
    "name_of_an_output": (
        "SELECT c.id AS k, c.name FROM customers AS c GROUP BY k",
        'k, "c"."name"',
    ),
    "column_before_an_output_of_its_name": (
        "SELECT c.id AS name, count(*) FROM customers AS c GROUP BY name",
        "name",
    ),
    "within_aggregates": (
        "SELECT id, max(name), string_agg(name, country), count(*) FILTER (WHERE name <> 'x'), "
        "json_agg(name ORDER BY country), count(DISTINCT lower(name)) FROM customers GROUP BY id",
        "id",
    ),
    "in_where": ("SELECT id, count(*) FROM customers WHERE name <> 'x' GROUP BY id", "id"),
    "in_order": (
        "SELECT id FROM customers GROUP BY id ORDER BY lower(name), max(country)",
        'id, "customers"."name" ORDER BY LOWER(name), MAX(country)',
    ),
    "in_having": (
        "SELECT id FROM customers GROUP BY id HAVING name <> 'x' AND max(country) <> 'x'",
        "id, \"customers\".\"name\" HAVING name <> 'x' AND MAX(country) <> 'x'",
    ),
    "in_a_windows_function": (
        "SELECT id, max(name) OVER (ORDER BY country) FROM customers GROUP BY id",
        'id, "customers"."country", "customers"."name"',
    ),
    "in_the_windows_of_the_clause": (
        "SELECT id, rank() OVER w FROM customers GROUP BY id WINDOW w AS (ORDER BY name)",
        'id, "customers"."name" WINDOW w AS (ORDER BY name)',
    ),
    "in_the_filter_of_a_window": (
        "SELECT id, count(*) FILTER (WHERE name = 'x') OVER () FROM customers GROUP BY id",
        'id, "customers"."name"',
    ),
    "count_of_a_window": (
        "SELECT id, max(name), count(*) OVER () FROM customers GROUP BY id",
        "id",
    ),
    "in_a_windows_function_and_its_filter": (
        "SELECT id, max(country) FILTER (WHERE name = 'x') OVER () FROM customers GROUP BY id",
        'id, "customers"."country", "customers"."name"',
    ),
    "columns_of_one_name": ("SELECT c.* FROM customers AS c(a, b, b) GROUP BY c.a", "c.a"),
    "column_with_its_table_is_no_output": (
        "SELECT c.name AS id, c.country FROM customers AS c GROUP BY c.id",
        'c.id, "c"."country", "c"."name"',
    ),
    "output_of_another_name": (
        "SELECT id AS k, name AS n, country FROM customers GROUP BY k",
        'k, "customers"."country", "customers"."name"',
    ),
    "star_of_another_table": (
        "SELECT o.id FROM customers AS c JOIN orders AS o ON o.id = c.id GROUP BY o.id, c.id "
        "ORDER BY count(c.*)",
        "o.id, c.id ORDER BY COUNT(c.*)",
    ),
    "in_an_aggregate_of_a_window": (
        "SELECT id, max(max(name)) OVER () FROM customers GROUP BY id",
        "id",
    ),
    "in_an_ordered_aggregate": (
        "SELECT id, percentile_disc(0.5) WITHIN GROUP (ORDER BY name) FROM customers GROUP BY id",
        "id",
    ),
    "in_a_query": (
        "SELECT c.id, (SELECT max(o.id) FROM orders AS o WHERE o.status = name) "
        "FROM customers AS c GROUP BY c.id",
        'c.id, "c"."name"',
    ),
    "of_a_query": (
        "SELECT c.id, (SELECT max(name) FROM (SELECT 'x' AS name) AS d) "
        "FROM customers AS c GROUP BY c.id",
        "c.id",
    ),
    "in_an_aggregate_of_a_query": (
        "SELECT c.id, (SELECT max(o.status || c.name) FROM orders AS o) FROM customers AS c "
        "GROUP BY c.id",
        'c.id, "c"."name"',
    ),
    "output_behind_one_without_a_name": (
        "SELECT c.name, c.id AS k FROM customers AS c GROUP BY k",
        'k, "c"."name"',
    ),
    "output_behind_another": (
        "SELECT c.name AS n, c.id AS k FROM customers AS c GROUP BY k",
        'k, "c"."name"',
    ),
    "column_of_a_query_around_is_no_output": (
        "SELECT c.id FROM customers AS c WHERE 'x' = "
        "(SELECT o.status AS name FROM orders AS o GROUP BY o.id, c.name)",
        'o.id, c.name, "o"."status")',
    ),
    "bare_star": (
        "SELECT * FROM customers GROUP BY id",
        'id, "customers"."country", "customers"."name"',
    ),
    "star_of_one_of_two_tables": (
        "SELECT o.*, max(c.name) FROM customers AS c JOIN orders AS o ON o.customer_id = c.id "
        "GROUP BY o.id, o.total, o.placed_at, o.seller_id, c.id",
        'o.id, o.total, o.placed_at, o.seller_id, c.id, "o"."customer_id", "o"."status"',
    ),
    "row_beside_the_key": (
        "SELECT c.name FROM customers AS c GROUP BY c.id, c.*",
        'c.id, c.*, "c"."name"',
    ),
    "star": ("SELECT c.* FROM customers AS c GROUP BY c.id", 'c.id, "c"."country", "c"."name"'),
    "star_of_a_query": (
        "SELECT c.id, (SELECT count(*) FROM (SELECT c.* FROM orders AS c) AS d) "
        "FROM customers AS c GROUP BY c.id",
        "c.id",
    ),
    "row": ("SELECT row_to_json(c) FROM customers AS c GROUP BY c.id", 'c.id, "c"'),
    "row_in_an_aggregate": ("SELECT c.id, json_agg(c) FROM customers AS c GROUP BY c.id", "c.id"),
    "shared_column": (
        "SELECT status FROM orders AS o JOIN (SELECT 'x' AS status) AS d USING (status) "
        "GROUP BY o.id",
        'o.id, "o"."status"',
    ),
}


@pytest.mark.parametrize(("sql", "grouped"), CASES.values(), ids=CASES)
def test_columns_that_follow_from_a_key_are_grouped_by(sql: str, grouped: str) -> None:
    verdict = expect(GuardedQuery, guard_query(sql, find_access("clerk")))
    assert verdict.sql.rpartition(" GROUP BY ")[2] == grouped


def test_a_function_that_is_called_like_the_key_is_not_the_key() -> None:
    table = build_table("stock.limits", "LOWER integer", "name text", key=("LOWER",))
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, table)), shared=["stock.products", "stock.limits"]
    )
    allowed = load_allowlist("postgres")
    extended = replace(allowed, functions=allowed.functions | {"LOWER"})
    sql = "SELECT name FROM limits GROUP BY \"LOWER\"('A')"
    verdict = guard_query(sql, find_access("clerk", compiled=compiled), extended)
    assert isinstance(verdict, GuardedQuery), verdict
    assert '"name"' not in verdict.sql.rpartition(" GROUP BY ")[2]


# On the dialect's allowlist, or such as the allowlist of a database may add.
AGGREGATES = (
    "any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop "
    "covar_samp every json_agg json_agg_strict json_object_agg jsonb_agg jsonb_agg_strict "
    "jsonb_object_agg max min range_agg range_intersect_agg regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp "
    "string_agg sum var_pop var_samp variance xmlagg"
).split()


@pytest.mark.parametrize("name", AGGREGATES)
def test_what_an_aggregate_takes_is_not_grouped_by(name: str) -> None:
    allowed = load_allowlist("postgres")
    extended = replace(allowed, functions=allowed.functions | {name})
    sql = f"SELECT id, {name}(name) FROM customers GROUP BY id"
    verdict = expect(GuardedQuery, guard_query(sql, find_access("clerk"), extended))
    assert verdict.sql.rpartition(" GROUP BY ")[2] == "id"


MASKED = ["sales.customers.id", "sales.orders.total"]
KEY = 'id, "customers"."name"'


@pytest.mark.parametrize(
    ("roles", "clerk", "boss", "grouped"),
    [
        (("clerk",), {"masked_columns": MASKED}, {}, "id"),
        (("clerk",), {"masked_columns": dict.fromkeys(MASKED, "hash")}, {}, KEY),
        (("clerk",), {"masked_columns": ["sales.customers.name"]}, {}, KEY),
        # What one role sees of every row is no mask to who has both.
        (("boss", "clerk"), {"masked_columns": MASKED}, {}, KEY),
        (("boss", "clerk"), {"masked_columns": MASKED}, {"masked_columns": MASKED}, "id"),
        (("boss", "clerk"), {}, {"masked_columns": MASKED}, "id"),
        (("boss", "clerk"), {}, {"hidden_columns": ["sales.customers.id"]}, "id"),
    ],
    ids=["null", "hash", "other", "open", "both", "rows_of_the_other", "hidden_from_the_other"],
)
def test_a_key_that_is_masked_is_none(
    roles: tuple[str, ...], clerk: dict[str, object], boss: dict[str, object], grouped: str
) -> None:
    access = find_access(*roles, compiled=compile_shop(clerk=clerk, boss=boss))
    verdict = guard_query("SELECT id, name FROM customers GROUP BY id", access)
    assert isinstance(verdict, GuardedQuery), verdict
    assert verdict.sql.rpartition(" GROUP BY ")[2] == grouped
