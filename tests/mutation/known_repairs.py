"""Repairs of the guard itself, its resolver and its policies, by file: name → entry."""

from __future__ import annotations

# One change (text, undone), several of them, or a condition ``if …:`` that never holds any more.
Entry = str | tuple[str, str] | list[tuple[str, str]]

REPAIRS: dict[str, dict[str, Entry]] = {
    "execution/guard/guard.py": {
        # sqlglot takes U+3000 and others for spaces, PostgreSQL and SQLite for letters of a name.
        "odd_spaces_are_refused": (
            'dialect != "duckdb" and (odd := find_odd_space(plain, dialect)):',
            "(odd := False):",
        ),
        "a_null_character_ends_no_text": 'if "\\0" in sql:',
        "half_of_a_surrogate_pair_is_refused": ('"\\ud800" <= letter <=', '"" > letter <='),
        "every_dialect_is_read_again": (
            "return check_wrapped(sql, tables, expected, access.catalog.dialect)",
            "return None",
        ),
        "duckdb_is_read_again_by_itself": (
            "return check_duckdb(sql, tables, allowlist, expected)",
            "return None",
        ),
        "postgres_is_read_again_by_itself": (
            "return check_grammar(query, sql, tables, allowlist, access.catalog, expected)",
            "return None",
        ),
        "sqlites_own_functions_are_held_to_a_list": (
            'if catalog.dialect == "sqlite" and (',
            "if False and (",
        ),
        # GROUP BY on a primary key names other columns bare; a derived table has no key.
        "groups_by_a_key_stay_valid": (
            'if access.view is not None and catalog.dialect == "postgres":'
        ),
        # Two uses of a table can have two wrappers, by the columns that each uses.
        "each_use_of_a_table_has_its_wrapper": (
            "texts.setdefault(table.qualified, set()).add(text)",
            "texts[table.qualified] = {text}",
        ),
        "an_indexed_catalog_that_changes_is_read_again": (
            "if known is None or known.source is not catalog:",
            "if known is None:",
        ),
    },
    "execution/policies/parameters.py": {
        "the_key_of_hashes_does_not_show_itself": ("return \"'…'\"", "return str.__repr__(self)"),
        "a_text_with_a_null_character_is_none": 'if "\\0" in value:',
        "not_a_number_is_no_number": ("if number.is_finite():", "if True:"),
        "a_list_of_values_has_an_end": "if len(values) > _MOST_VALUES:",
        "a_boolean_is_no_integer": (
            "if not isinstance(value, bool | float) and abs",
            "if not isinstance(value, float) and abs",
        ),
        "an_integer_has_64_bits": (" and abs(int(value)) < 2**63", ""),
        "quotes_in_a_setting_are_doubled": (
            """.replace("'", "''")\n        return f"CAST((SELECT""",
            """\n        return f"CAST((SELECT""",
        ),
    },
    "execution/policies/row_hints.py": {
        "a_value_that_is_no_plain_text_is_not_told": ("if not text.isprintable() or ", "if "),
        "a_masked_column_is_not_told": (" - set(rule.masks)", ""),
        "of_several_roles_no_rows_are_told": ("if len(rules) == 1 else ", "if rules else "),
    },
    "execution/policies/grouping.py": {
        # GROUP BY 111…1 raised ValueError.
        "a_position_has_few_digits": ("[0-9]{1,9}", "[0-9]+"),
        "group_by_a_number_means_an_output": "if 0 <= at < len(outputs):",
        # count(*) OVER () had every column that the query uses grouped by, json among them.
        "the_star_of_a_windows_count_is_no_column": (
            "            if not isinstance(expression, exp.Star)\n",
            "",
        ),
        # GROUP BY id, ROLLUP (name) became one on the name too, which has other rows.
        "grouping_sets_are_left_alone": [
            ("        if isinstance(node, exp.Cube | exp.Rollup):\n", "        if False:\n"),
            ("if len(node.expressions) == 1 else []", ""),
            (
                "        if isinstance(node, exp.Paren | exp.Tuple):\n",
                "        if isinstance(node, exp.Cube | exp.Paren | exp.Rollup | exp.Tuple):\n",
            ),
            ("used - finder.list_named(mentioned, name)", "used"),
        ],
        # A json column in json_agg was grouped by, which has no equality.
        "what_only_aggregates_use_is_not_grouped_by": (
            "name_function(node) not in _AGGREGATES:",
            "True:",
        ),
    },
    "execution/guard_dialects.py": {
        "comments_are_stripped_before_parsing": ("strip_comments(sql, dialect)", "sql"),
    },
    "execution/policies/views.py": {
        "a_view_that_reads_itself_is_refused": "if table.qualified == name:",
        "tables_of_a_view_are_wrapped": ("        replace_table(node, wrapper.text)\n", ""),
    },
    "execution/policies/filter_parsing.py": {
        "a_filter_holds_no_subquery": ("exp.Query: ", "exp.Delete: "),
        "a_list_is_not_used_as_one_value": "if is_list and not is_member:",
    },
    "execution/guard/verification.py": {
        "what_is_in_quotes_is_no_placeholder": (
            """('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)""",
            "(\\\\Z)",
        ),
        "a_wrapper_is_exactly_the_one_that_was_made": (
            "if node == wrapper), None)",
            "if node.find(exp.Where)), None)",
        ),
        "a_bare_name_is_a_cte": (" | (bare - ctes)", ""),
        "a_table_outside_its_filter_is_refused": "if node.db and wrappers is not None:",
    },
    "execution/parsing/comments.py": {
        # ELSE'\\' was read as an escape string, which ends elsewhere.
        "an_escape_string_begins_no_other_word": ("(?<![\\w$\\x80-\\U0010ffff])[eE]", "[eE]"),
        "names_in_brackets_are_quoted_on_sqlite": ("      | \\[[^\\]]*\\]\n", ""),
        "comments_of_sqlite_do_not_nest": ('elif dialect != "sqlite":', "else:"),
        "a_block_comment_that_does_not_end_is_left": (
            "return sql\n        kept",
            "end = len(sql)\n        kept",
        ),
        "a_comment_becomes_spaces": (
            '" " * (end - match.start())',
            '""',
        ),
        "a_carriage_return_ends_a_line_comment": ("--[^\\r\\n]*", "--[^\\n]*"),
    },
}
