"""Repairs of what refuses queries that grow too far or never end, by file: name → entry."""

from __future__ import annotations

from tests.mutation.known_repairs import Entry

GROWTH_REPAIRS: dict[str, dict[str, Entry]] = {
    "execution/guard/recursion.py": {
        "a_reference_that_recurses_must_not_multiply": ("ends and not multiplies", "ends"),
        "a_bound_must_be_near": "if number is not None and abs(number) > MOST_ROWS:",
        # SELECT i, i + 1 FROM n WHERE i < 5 went on for ever.
        "a_column_is_counted_in_its_own_place": [
            ("        name: up\n", "        column.name.lower(): up\n"),
            ("        if column.name.lower() == name\n", "        if True\n"),
        ],
        "a_bound_is_on_a_column_of_the_recursion": (
            "and found.origins.get(id(column)) is source\n            and moved",
            "and moved",
        ),
        "a_bound_does_not_move_along": (
            "            and not _uses(condition.find_all(exp.Subquery), source, found)\n",
            "",
        ),
        "a_distance_between_columns_is_no_bound": (
            "if read_number(left.expression) is None and read_days(left.expression) is None:"
        ),
        # SQLite runs each part that names the query.
        "a_recursion_has_one_step": (" or names_itself(body.this):", ":"),
    },
    "execution/guard/growing_calls.py": {
        "an_empty_match_stands_between_any_two_letters": (
            "return len(new.name) + 1.0 if new.name else 1.0",
            "return 1.0",
        ),
        # '$.**.**.**.**.**' over a hundred lists in one another took two gigabytes.
        "a_path_descends_once": ('path.name.count("**") <= _MOST_DESCENTS', "True"),
        "operators_take_a_path_too": ("if isinstance(node, _PATHS) and", "if False and"),
    },
    "execution/guard/written_constants.py": {
        "an_interval_has_one_sign": (
            "not _WHOLE_NUMBER.fullmatch(words[0])",
            'not words[0].lstrip("+-").isdigit()',
        )
    },
    "execution/guard/generators.py": {
        "zero_steps_never_end": ("return None if width and abs", "return None if abs")
    },
    "execution/guard/query_measures.py": {
        "a_text_of_which_only_the_length_is_asked_is_made": (
            "self.explodes = self.explodes or size > MOST_BYTES",
            "self.explodes = size > MOST_BYTES",
        ),
        "a_whole_row_counts_all_its_columns": ("return self._measure_row(source)", "return BASE"),
        "outputs_that_double_at_each_step_are_found": (
            "last.size > _MOST_STEPPED * before.size",
            "False and last > before",
        ),
        "a_list_that_becomes_text_doubles_its_quotes": (
            "part.size * quotes if part.is_list",
            "part.size if part.is_list",
        ),
        "a_piece_is_as_long_as_what_is_taken_apart": (
            "measure = self._measure_rows(query)",
            "measure = BASE",
        ),
        "columns_without_a_name_are_followed": (
            'names = [*names, *[""] * len(sizes)][: len(sizes)]',
            "sizes = sizes[: len(names)]",
        ),
        "columns_of_values_and_functions_have_a_size": (
            "if isinstance(source.origin, exp.Expr):",
            "if isinstance(source.origin, exp.Query):",
        ),
        # A chain of recursive queries took ten times longer for each, nested ones still do.
        "a_query_that_takes_long_to_measure_is_refused": "if self._looks > _MOST_LOOKS:",
        # LIKE with a pattern of 9,000 letters over five million letters took 140 seconds, past any
        # limit of time.
        "what_is_searched_for_one_another_is_multiplied": "if compares(node):",
        "products_of_lengths_are_added_up": (
            "self.compared += product - before",
            "self.compared = product",
        ),
        # Divisions of numbers of 100,000 digits took 0.1 s each, past any limit of time.
        "arithmetic_on_long_numbers_is_counted": "if computes(node):",
        "powers_are_counted": "if is_power(node):",
        "an_operand_is_measured_once": (
            "parts = [self.measure(child, select) for child in children]",
            "parts = [max(self.measure(child, select) for _ in 'ab') for child in children]",
        ),
    },
    "execution/guard/value_sizes.py": {
        "what_is_gathered_counts_the_rows": (
            "return together * max(count_rows(select, _rows_of_table(made)), 1.0)",
            "return together",
        ),
        # With the dialect that leaves functions as names, ARRAY(SELECT …) became one of them.
        "an_array_of_a_query_has_a_value_for_each_row": 'if name == "array":',
        "a_row_doubles_its_quotes": (
            "if isinstance(node, exp.Func | exp.Tuple) and not keeps",
            "if isinstance(node, exp.Func) and not keeps",
        ),
        "json_aggregates_gather": "if name in GATHERING:",
        "a_list_of_patterns_is_as_long_as_they_are": "if isinstance(node, exp.All | exp.Any):",
        "products_have_the_digits_of_both": (
            "return max(together, _OTHER_BYTES)",
            "return largest",
        ),
        # Of now() || '' doubled at each level nothing was known to grow.
        "a_function_of_nothing_gives_something": (
            "return max(together * 2, _OTHER_BYTES)",
            "return together * 2",
        ),
    },
    "execution/guard/growth.py": {
        "what_stands_in_from_is_measured": (
            "exp.With | exp.Query)",
            "exp.With | exp.Query | exp.From)",
        ),
        "what_stands_around_a_union_is_measured": (
            "not isinstance(query, exp.Query | exp.Values)",
            "not isinstance(query, exp.Select)",
        ),
        "what_orders_and_limits_a_set_operation_is_measured": (
            "if not isinstance(query, exp.Query | exp",
            "if not isinstance(query, exp.Select | exp",
        ),
        "values_are_measured": (
            "if not isinstance(query, exp.Query | exp.Values)",
            "if not isinstance(query, exp.Query)",
        ),
        "functions_in_from_are_measured": (
            "if isinstance(clause, exp.With | exp.Query):",
            "if isinstance(clause, exp.With | exp.Query | exp.From | exp.Lateral):",
        ),
    },
    "execution/guard/row_counts.py": {
        "rows_of_values_count": ("return float(len(origin.expressions))", "return 1.0")
    },
    "execution/guard/measures.py": {
        "a_recursion_is_followed_once": (
            "if found is None or not self._still_holds(found):",
            "if found is None or found.steps == {}:",
        ),
        "what_rests_on_a_step_is_measured_anew_at_the_next": (
            "self._assumed[query].number == at",
            "at",
        ),
    },
    "execution/guard/growth_glance.py": {
        "what_searches_is_not_small_at_a_glance": ("if not comparing:", "if True:")
    },
}
