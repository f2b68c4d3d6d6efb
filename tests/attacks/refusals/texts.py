"""Texts that some reader cannot read, that are too long or too deep, and that make too much."""

from __future__ import annotations

from tests.attacks.refusals.refusal import ANY, Families, refused

FAMILIES: Families = {
    "unparsable": (
        refused(
            "precision_that_would_be_lost",
            "SELECT INTERVAL(0) '1.6 seconds'",
            sqlite="node_not_allowed",
        ),
        refused("json_table", "SELECT * FROM json_table('[]', '$' COLUMNS (a int))"),
        refused("xmltable", "SELECT * FROM xmltable('/a' PASSING '<a/>' COLUMNS x int)"),
        refused("xmlelement", "SELECT xmlelement(name a, 1)"),
        refused("ideographic_space", "SELECT id AS\u3000a FROM orders", duckdb=None),
        refused("no_break_space", "SELECT\xa0id FROM orders", duckdb=None),
        refused("file_separator", "SELECT id FROM orders\x1cWHERE TRUE", duckdb=None),
        refused("half_of_a_surrogate_pair", "SELECT conca\ud800t(1)"),
        refused("no_sql", "Please drop all tables"),
        refused("psql_command", r"\copy orders to '/tmp/orders'"),
        refused("unclosed_quote", "SELECT 'a"),
        refused("unclosed_comment", "SELECT 1 /* a"),
        refused("null_byte_at_the_end", "SELECT 1\0"),
        refused("null_byte_in_a_string", "SELECT '\0'"),
        refused("null_byte_in_a_name", 'SELECT 1 AS "a\0"'),
        refused("null_byte_as_space", "SELECT\0id FROM orders"),
        refused("notify_with_payload", "NOTIFY channel, 'x'"),
        refused("read_write_transaction", "START TRANSACTION READ WRITE"),
        refused("delete_in_parentheses", "(DELETE FROM orders RETURNING id)"),
        refused("delete_as_derived_table", "SELECT * FROM (DELETE FROM orders RETURNING id) AS x"),
        refused(
            "parentheses_2000_deep", f"SELECT {'(' * 2000}1{')' * 2000}", sqlite=ANY, duckdb=ANY
        ),
        refused("negations_2000_deep", f"SELECT {'NOT ' * 2000}TRUE"),
        refused("calls_2000_deep", f"SELECT {'abs(' * 2000}1{')' * 2000}", sqlite=ANY, duckdb=ANY),
        refused("dot_command", ".shell id"),
        refused("unclosed_name", 'SELECT "a'),
        refused("null_character_in_a_string", "SELECT 'a\0b'"),
        refused("statement_in_a_cast", "SELECT CAST(1 AS INT; DROP TABLE orders)"),
        refused("subquery_in_a_cast", "SELECT CAST(1 AS INT(SELECT x FROM secrets))"),
        refused(
            "comparisons_that_parsers_group_differently",
            "SELECT id = total NOT IN (1) FROM orders",
            postgres=None,
            duckdb=None,
        ),
        refused(
            "range_in_a_range",
            "SELECT id FROM orders WHERE id IN (1) LIKE 'x'",
            postgres=None,
            duckdb=None,
        ),
        refused(
            "zero_width_space",
            "SELECT id FROM orders AS o\u200bUNION\u200bFROM secrets SELECT id",
            works=True,
        ),
        refused(
            "word_joiner",
            "SELECT id FROM orders AS o\u2060LIMIT\u20601",
            postgres=None,
            sqlite=None,
            works=True,
        ),
        refused(
            "byte_order_mark",
            "SELECT repeat\ufeff('x', 3)",
            postgres="function_not_allowed",
            sqlite="function_not_allowed",
            works=True,
        ),
        refused("half_of_a_letter", "SELECT '\ud800'"),
        refused("chained_comparisons", "SELECT id < total < 3 FROM orders", sqlite=None),
        refused(
            "hexadecimal_string",
            "SELECT x'00'",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
        ),
    ),
    "too_many_rows": (
        refused(
            "generate_series",
            "SELECT generate_series(1, 1000000000)",
            sqlite="function_not_allowed",
        ),
        refused(
            "generate_series_as_table",
            "SELECT * FROM generate_series(1, 1000000000)",
            sqlite="function_not_allowed",
        ),
        refused(
            "range",
            "SELECT count(*) FROM range(1000000000000)",
            postgres="function_not_allowed",
            sqlite="function_not_allowed",
        ),
    ),
    "too_much_text": (
        refused("repeat", "SELECT repeat('x', 1000000000)", sqlite="function_not_allowed"),
        refused("lpad", "SELECT lpad('x', 1000000000)", sqlite="function_not_allowed"),
        refused("printf_width", "SELECT printf('%1000000000d', 1)"),
        refused("format_width", "SELECT format('%1000000000d', 1)"),
        refused("padding_by_format", "SELECT printf('%100000d', 1)", works=True),
    ),
    "endless_recursion": (
        refused(
            "counting",
            ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"),
        ),
    ),
    "too_long": (
        refused("long_string", f"SELECT '{'x' * 30_000}'"),
        refused("long_list", f"SELECT id FROM orders WHERE id IN ({', '.join(['1'] * 10_000)})"),
    ),
    ANY: (
        refused("field_of_a_row", "SELECT (e).salary FROM employees AS e"),
        refused("function_of_a_row", "SELECT (o).row_to_json FROM orders AS o", duckdb=None),
        refused(
            "field_of_a_row_in_a_subquery",
            "SELECT (s.x).salary FROM (SELECT e AS x FROM employees AS e) AS s",
        ),
        refused("additions_60", f"SELECT 1{' + 1' * 60}", sqlite=None, duckdb=None),
        refused("additions_3000", f"SELECT 1{' + 1' * 3000}"),
        refused("concatenations_60", "SELECT 'a'" + " || 'a'" * 60, sqlite=None, duckdb=None),
        refused("negations_60", f"SELECT {'NOT ' * 60}TRUE", sqlite=None, duckdb=None),
        refused("unions_400", f"SELECT id FROM orders{' UNION ALL SELECT id FROM orders' * 400}"),
    ),
}
