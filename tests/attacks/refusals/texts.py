"""Texts that some reader cannot read, that are too long or too deep, and that make too much."""

from __future__ import annotations

from tests.attacks.refusals.refusal import ANY, Refusal, refused

REFUSALS: tuple[Refusal, ...] = (
    *refused(
        "unparsable",
        {
            "json_table": "SELECT * FROM json_table('[]', '$' COLUMNS (a int))",
            "xmltable": "SELECT * FROM xmltable('/a' PASSING '<a/>' COLUMNS x int)",
            "xmlelement": "SELECT xmlelement(name a, 1)",
            "half_of_a_surrogate_pair": "SELECT conca\ud800t(1)",
            "no_sql": "Please drop all tables",
            "psql_command": r"\copy orders to '/tmp/orders'",
            "unclosed_quote": "SELECT 'a",
            "unclosed_comment": "SELECT 1 /* a",
            "null_byte_at_the_end": "SELECT 1\0",
            "null_byte_in_a_string": "SELECT '\0'",
            "null_byte_in_a_name": 'SELECT 1 AS "a\0"',
            "null_byte_as_space": "SELECT\0id FROM orders",
            "notify_with_payload": "NOTIFY channel, 'x'",
            "read_write_transaction": "START TRANSACTION READ WRITE",
            "delete_in_parentheses": "(DELETE FROM orders RETURNING id)",
            "delete_as_derived_table": "SELECT * FROM (DELETE FROM orders RETURNING id) AS x",
            "negations_2000_deep": f"SELECT {'NOT ' * 2000}TRUE",
            "dot_command": ".shell id",
            "unclosed_name": 'SELECT "a',
            "null_character_in_a_string": "SELECT 'a\0b'",
            "statement_in_a_cast": "SELECT CAST(1 AS INT; DROP TABLE orders)",
            "subquery_in_a_cast": "SELECT CAST(1 AS INT(SELECT x FROM secrets))",
            "half_of_a_letter": "SELECT '\ud800'",
        },
    ),
    *refused(
        "unparsable",
        {"precision_that_would_be_lost": ("SELECT INTERVAL(0) '1.6 seconds'")},
        sqlite="node_not_allowed",
    ),
    *refused(
        "unparsable",
        {
            "ideographic_space": "SELECT id AS\u3000a FROM orders",
            "no_break_space": "SELECT\xa0id FROM orders",
            "file_separator": "SELECT id FROM orders\x1cWHERE TRUE",
        },
        duckdb=None,
    ),
    *refused(
        "unparsable",
        {"zero_width_space": ("SELECT id FROM orders AS o\u200bUNION\u200bFROM secrets SELECT id")},
        works=True,
    ),
    *refused(
        "unparsable", {"chained_comparisons": ("SELECT id < total < 3 FROM orders")}, sqlite=None
    ),
    *refused(
        "unparsable",
        {
            "parentheses_2000_deep": f"SELECT {'(' * 2000}1{')' * 2000}",
            "calls_2000_deep": f"SELECT {'abs(' * 2000}1{')' * 2000}",
        },
        sqlite=ANY,
        duckdb=ANY,
    ),
    *refused(
        "unparsable",
        {
            "match_calls_an_application": "SELECT id FROM orders WHERE status MATCH 'x'",
            "regexp_calls_an_application": "SELECT id FROM orders WHERE status REGEXP 'x'",
            "ilike": "SELECT id FROM orders WHERE status ILIKE 'x'",
        },
        postgres=None,
        duckdb=None,
    ),
    *refused(
        "unparsable",
        {"hexadecimal_string": ("SELECT x'00'")},
        postgres=None,
        sqlite=None,
    ),
    *refused(
        "unparsable",
        {"word_joiner": ("SELECT id FROM orders AS o\u2060LIMIT\u20601")},
        postgres=None,
        sqlite=None,
        works=True,
    ),
    *refused(
        "unparsable",
        {"byte_order_mark": ("SELECT repeat\ufeff('x', 3)")},
        postgres="function_not_allowed",
        sqlite="function_not_allowed",
        works=True,
    ),
    *refused(
        "too_many_rows",
        {
            "generate_series": "SELECT generate_series(1, 1000000000)",
            "generate_series_as_table": "SELECT * FROM generate_series(1, 1000000000)",
        },
        sqlite="function_not_allowed",
    ),
    *refused(
        "too_many_rows",
        {"range": ("SELECT count(*) FROM range(1000000000000)")},
        postgres="function_not_allowed",
        sqlite="function_not_allowed",
    ),
    *refused(
        "too_much_text",
        {
            "printf_width": "SELECT printf('%1000000000d', 1)",
            "format_width": "SELECT format('%1000000000d', 1)",
        },
    ),
    *refused(
        "too_much_text",
        {"repeat": ("SELECT repeat('x', 1000000000)"), "lpad": ("SELECT lpad('x', 1000000000)")},
        sqlite="function_not_allowed",
    ),
    *refused("too_much_text", {"padding_by_format": "SELECT printf('%100000d', 1)"}, works=True),
    *refused(
        "endless_recursion",
        {
            "counting": (
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
            )
        },
    ),
    *refused(
        "too_long",
        {
            "long_string": f"SELECT '{'x' * 30_000}'",
            "long_list": f"SELECT id FROM orders WHERE id IN ({', '.join(['1'] * 10_000)})",
        },
    ),
    *refused(
        ANY,
        {
            "field_of_a_row": "SELECT (e).salary FROM employees AS e",
            "field_of_a_row_in_a_subquery": (
                "SELECT (s.x).salary FROM (SELECT e AS x FROM employees AS e) AS s"
            ),
            "additions_3000": f"SELECT 1{' + 1' * 3000}",
            "unions_400": f"SELECT id FROM orders{' UNION ALL SELECT id FROM orders' * 400}",
        },
    ),
    *refused(ANY, {"function_of_a_row": "SELECT (o).row_to_json FROM orders AS o"}, duckdb=None),
    *refused(
        ANY,
        {
            "additions_60": f"SELECT 1{' + 1' * 60}",
            "concatenations_60": "SELECT 'a'" + " || 'a'" * 60,
            "negations_60": f"SELECT {'NOT ' * 60}TRUE",
        },
        sqlite=None,
        duckdb=None,
    ),
)
