"""Repairs of the readers of bombs, of SQLite and of DuckDB, by file: name → (text, undone)."""

from __future__ import annotations

Changes = tuple[tuple[str, str], ...]

FILE_REPAIRS: dict[str, dict[str, Changes]] = {
    "execution/guard/cost_bombs.py": {
        "a_reference_that_recurses_must_not_multiply": (("ends and not multiplies", "ends"),),
        "a_bound_must_be_near": (
            ("if number is not None and abs(number) > _MOST_ROWS:", "if False:"),
        ),
        "an_empty_match_stands_between_any_two_letters": (
            ("return len(new.name) + 1.0 if new.name else 1.0", "return 1.0"),
        ),
        # SELECT i, i + 1 FROM n WHERE i < 5 went on for ever.
        "a_column_is_counted_in_its_own_place": (
            ("        name: up\n", "        column.name.lower(): up\n"),
            ("        if column.name.lower() == name\n", "        if True\n"),
        ),
        "a_bound_is_on_a_column_of_the_recursion": (
            (
                "            and found.origins.get(id(column)) is source\n            and moved",
                "            and moved",
            ),
        ),
        "a_bound_does_not_move_along": (
            ("            and not _uses(condition.find_all(exp.Subquery), source, found)\n", ""),
        ),
        "a_distance_between_columns_is_no_bound": (
            (
                "if _read_number(left.expression) is None and _read_days(left.expression) is None:",
                "if False:",
            ),
        ),
        # SQLite runs each part that names the query.
        "a_recursion_has_one_step": ((" or names_itself(body.this):", ":"),),
        "an_interval_has_one_sign": (
            (
                "not _WHOLE_NUMBER.fullmatch(words[0])",
                'not words[0].lstrip("+-").isdigit()',
            ),
        ),
        # '$.**.**.**.**.**' over a hundred lists in one another took two gigabytes.
        "a_path_descends_once": (('path.name.count("**") <= _MOST_DESCENTS', "True"),),
        "operators_take_a_path_too": (("if isinstance(node, _PATHS) and", "if False and"),),
        "zero_steps_never_end": (("return None if width and abs", "return None if abs"),),
    },
    "execution/guard/growth.py": {
        "a_text_of_which_only_the_length_is_asked_is_made": (
            (
                "self.explodes = self.explodes or size > MOST_BYTES",
                "self.explodes = size > MOST_BYTES",
            ),
        ),
        "a_whole_row_counts_all_its_columns": (
            (
                "                return self._measure_row(source)\n",
                "                return _BASE\n",
            ),
        ),
        "outputs_that_double_at_each_step_are_found": (
            ("last.size > _MOST_STEPPED * before.size", "False and last > before"),
        ),
        "what_is_gathered_counts_the_rows": (
            (
                "return together * max(self._count_rows(select, _rows_of_table(made)), 1.0)",
                "return together",
            ),
        ),
        # With the dialect that leaves functions as names, ARRAY(SELECT …) became one of them.
        "an_array_of_a_query_has_a_value_for_each_row": (('if name == "array":', "if False:"),),
        "a_list_that_becomes_text_doubles_its_quotes": (
            ("part.size * quotes if part.is_list", "part.size if part.is_list"),
        ),
        "a_row_doubles_its_quotes": (
            (
                "if isinstance(node, exp.Func | exp.Tuple) and not keeps",
                "if isinstance(node, exp.Func) and not keeps",
            ),
        ),
        "what_stands_in_from_is_measured": (
            ("exp.With | exp.Query)", "exp.With | exp.Query | exp.From)"),
        ),
        "what_stands_around_a_union_is_measured": (
            ("not isinstance(query, exp.Query | exp.Values)", "not isinstance(query, exp.Select)"),
        ),
        "a_piece_is_as_long_as_what_is_taken_apart": (
            ("            measure = self._measure_rows(query)\n", "            measure = _BASE\n"),
        ),
        "rows_of_values_count": (("return float(len(origin.expressions))", "return 1.0"),),
        "columns_without_a_name_are_followed": (
            ('names = [*names, *[""] * len(sizes)][: len(sizes)]', "sizes = sizes[: len(names)]"),
        ),
        "json_aggregates_gather": (("        if name in GATHERING:", "        if False:"),),
        "what_orders_and_limits_a_set_operation_is_measured": (
            (
                "if not isinstance(query, exp.Query | exp",
                "if not isinstance(query, exp.Select | exp",
            ),
        ),
        "values_are_measured": (
            (
                "if not isinstance(query, exp.Query | exp.Values)",
                "if not isinstance(query, exp.Query)",
            ),
        ),
        "functions_in_from_are_measured": (
            (
                "if isinstance(clause, exp.With | exp.Query):",
                "if isinstance(clause, exp.With | exp.Query | exp.From | exp.Lateral):",
            ),
        ),
        "columns_of_values_and_functions_have_a_size": (
            (
                "if isinstance(source.origin, exp.Expr):",
                "if isinstance(source.origin, exp.Query):",
            ),
        ),
        # A chain of recursive queries took ten times longer for each, nested ones still do.
        "a_query_that_takes_long_to_measure_is_refused": (
            ("if self._looks > _MOST_LOOKS:", "if False:"),
        ),
        "a_recursion_is_followed_once": (
            (
                "if found is None or not self._still_holds(found):",
                "if found is None or found.steps == {}:",
            ),
        ),
        "what_rests_on_a_step_is_measured_anew_at_the_next": (
            ("self._assumed[each].number == at", "at"),
        ),
        # LIKE with a pattern of 9,000 letters over five million letters took 140 seconds, past any
        # limit of time.
        "what_is_searched_for_one_another_is_multiplied": (
            ("        if compares(node):", "        if False:"),
        ),
        "a_list_of_patterns_is_as_long_as_they_are": (
            ("if isinstance(node, exp.All | exp.Any):", "if False:"),
        ),
        "products_of_lengths_are_added_up": (
            ("self.compared += product - before", "self.compared = product"),
        ),
        # Divisions of numbers of 100,000 digits took 0.1 s each, past any limit of time.
        "arithmetic_on_long_numbers_is_counted": (
            ("        if computes(node):", "        if False:"),
        ),
        "powers_are_counted": (("        elif _is_power(node):", "        elif False:"),),
        "products_have_the_digits_of_both": (
            ("            return max(together, _OTHER_BYTES)", "            return largest"),
        ),
        # Of now() || '' doubled at each level nothing was known to grow.
        "a_function_of_nothing_gives_something": (
            ("return max(together * 2, _OTHER_BYTES)", "return together * 2"),
        ),
        "a_replacement_is_measured_once": (
            (
                "return largest * _pick_size(new, children, sizes)",
                "return largest * self.measure(new, select).size",
            ),
        ),
    },
    "execution/guard/growth_glance.py": {
        "what_searches_is_not_small_at_a_glance": (("if not comparing:", "if True:"),),
    },
    "execution/sqlite/grammar.py": {
        "x_in_name_reads_no_table": (
            ('if isinstance(node, exp.In) and node.args.get("field"):', "if False:"),
        ),
        "comparisons_within_comparisons_need_parentheses": (
            ("if _is_ambiguous(node):", "if False:"),
        ),
        "no_distinct_on": (
            ('if isinstance(node, exp.Distinct) and node.args.get("on"):', "if False:"),
        ),
        "only_a_cte_names_its_columns": (
            ("if isinstance(node, exp.TableAlias) and node.columns and not", "if False and not"),
        ),
        "is_distinct_from_and_its_parentheses": (
            ("if isinstance(node, _NULL_SAFE):", "if False:"),
        ),
    },
    "execution/sqlite/authorizer.py": {
        "a_cte_of_which_no_column_is_read_is_not_a_schema_table": (
            ("allowed = not name.startswith(_RESERVED)", "allowed = True"),
        ),
        "a_table_that_is_there_is_no_cte": ((" and name not in known:", ":"),),
        "functions_are_held_to_the_list": (
            ("allowed = second is not None and second.lower() in callable_", "allowed = True"),
        ),
        "a_view_shows_no_schema_table": (
            (
                "return {name for name in read if not name.startswith(_RESERVED)}, called",
                "return read, called",
            ),
        ),
    },
    "execution/sqlite/dialect.py": {
        # A column behind a plus has no affinity and no collation.
        "a_plus_before_a_column_is_kept_on_sqlite": (
            ("            TokenType.PLUS: read_plus,\n", ""),
        ),
        "a_cast_is_an_affinity": (
            (
                "return f\"CAST({self.sql(expression, 'this')} AS {self.sql(expression, 'to')})\"",
                "return super().cast_sql(expression)",
            ),
        ),
        "a_comma_is_no_cross_join": (
            ("JOINS_HAVE_EQUAL_PRECEDENCE = False", "JOINS_HAVE_EQUAL_PRECEDENCE = True"),
        ),
        "names_are_written_in_backticks": (
            ("""["`", '"', ("[", "]")]""", """['"', "`", ("[", "]")]"""),
        ),
    },
    "execution/sqlite/names.py": {
        "a_cte_recurses_without_being_told": (
            ('            cte.parent.set("recursive", True)\n', "            pass\n"),
        ),
        "double_quotes_are_remembered": (("start is not None and sql[start] == '\"'", "False"),),
    },
    "execution/parsing/plain_parser.py": {
        # Of interval '1 day' + 2 * interval '1 hour' the 2 alone was left.
        "an_interval_ends_with_its_unit": (
            ("    def _parse_interval(\n", "    def parse_nothing(\n"),
        ),
        "a_json_literal_is_a_cast": (
            ("    TYPE_LITERAL_PARSERS: ClassVar", "    NO_PARSERS: ClassVar"),
        ),
        "a_column_may_be_called_interval": (
            (" and not self._has_amount():\n            return", " and False:\n            return"),
        ),
    },
    "execution/parsing/plain_calls.py": {
        # ~ -1 became ~-1, and no such operator is there.
        "operators_before_operands_stay_apart": (
            ("' ' if operand[:1] in _OPERATOR_SIGNS else ''", "''"),
        ),
        "a_not_beside_an_operator_has_parentheses": (
            ('return f"({sql})" if is_operand else sql', "return sql"),
        ),
    },
    "execution/postgres/dialect.py": {
        # ARRAY[(SELECT 1), (SELECT 2)] became ARRAY((SELECT 1)).
        "an_array_keeps_what_follows_a_query": (
            ("            exp.Array: lambda", "            exp.GroupingSets: lambda"),
        ),
        "a_char_literal_has_no_length": (
            ("exp.DType.CHAR: _build_char_literal", "exp.DType.INET: _build_char_literal"),
        ),
        "a_unit_that_cuts_an_interval_is_refused": (
            ("if unit in _CUTTING_UNITS and", "if False and"),
        ),
        # INTERVAL '1' DAY (3), which PostgreSQL refuses, became three seconds more.
        "a_precision_behind_an_intervals_unit_is_refused": (
            ("parse_function_unit=False", "parse_function_unit=True"),
        ),
        "a_plus_before_a_text_is_kept_on_postgres": (
            ("            TokenType.PLUS: read_plus,\n", ""),
        ),
    },
    "execution/duckdb/dialect.py": {
        "a_factorial_is_no_not": (('token.text == "!"', "False"),),
        "a_number_without_a_zero_keeps_its_type": (
            ('f".{self._prev.text}"', 'f"0.{self._prev.text}"'),
        ),
        "a_plus_before_a_number_is_kept_on_duckdb": (
            ("            TokenType.PLUS: read_plus,\n", ""),
        ),
        # Of all letters DuckDB takes three without width for spaces.
        "signs_without_width_are_refused": (
            (
                "if token.token_type not in _QUOTED and not _SPACES.isdisjoint(token.text):",
                "if False:",
            ),
        ),
        "the_distance_of_arrays_is_no_equality": (
            ("if token != TokenType.NULLSAFE_EQ", "if True"),
        ),
        "a_path_stays_text": (
            ("        return path\n", "        return super().to_json_path(path)\n"),
        ),
    },
    "execution/duckdb/grammar.py": {
        "a_cte_is_known_where_it_can_be_seen": (("if _fold(path[0]) in ctes:", "if True:"),),
        "a_recursion_sees_itself_on_its_right_only": (
            (
                'if kind == "RECURSIVE_CTE_NODE" and key == "right":',
                'if kind == "RECURSIVE_CTE_NODE":',
            ),
        ),
        "another_database_is_not_reached": (("if len(path) > 2:", "if False:"),),
        "a_function_under_a_schema_is_another": (
            ("if len(path) == 1 and name in allowed:", "if path[-1] in allowed:"),
        ),
        "a_macro_called_like_a_column_is_refused": (
            ("if len(names) == 1 and names[0].lower() in self._macros:", "if False:"),
        ),
        "a_macro_of_the_file_hides_a_function": (
            (
                "(allowlist.functions | WRAPPER_FUNCTIONS | functions) - macros",
                "allowlist.functions | WRAPPER_FUNCTIONS | functions",
            ),
        ),
        "only_three_functions_make_tables": (
            ('["function_name"] not in _TABLE_FUNCTIONS:', '["function_name"] == "":'),
        ),
        "arguments_nobody_thought_of_are_refused": (
            (
                "            elif _is_empty(value):\n                continue",
                "            else:\n                continue",
            ),
        ),
        "values_of_arguments_are_known": (("if known is None or value in known:", "if True:"),),
        "a_star_of_columns_is_only_order_by_all": (
            ("in _ORDERS and value == _ALL:", 'in _ORDERS and key == "expression":'),
        ),
    },
    "execution/duckdb/statement.py": {
        "what_a_plan_scans_is_known": (("if catalog != ATTACHED or not is_known:", "if False:"),),
        "leaves_without_a_table_are_harmless": (("if leaf.name not in _HARMLESS:", "if False:"),),
    },
    "execution/duckdb/plan.py": {
        "an_estimate_is_not_told_to_the_restricted": (
            ('expected = "" if restricted else', 'expected = "" if False else'),
        ),
    },
}
