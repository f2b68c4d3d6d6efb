"""Repairs of what reads SQLite and DuckDB, and of the dialects, by file: name → entry."""

from __future__ import annotations

from tests.mutation.known_repairs import Entry

FILE_REPAIRS: dict[str, dict[str, Entry]] = {
    "execution/sqlite/allowed_nodes.py": {
        "x_in_name_reads_no_table": 'if isinstance(node, exp.In) and node.args.get("field"):',
        "no_distinct_on": 'if isinstance(node, exp.Distinct) and node.args.get("on"):',
        "only_a_cte_names_its_columns": (
            "if isinstance(node, exp.TableAlias) and node.columns and not",
            "if False and not",
        ),
    },
    "execution/sqlite/authorizer.py": {
        "a_cte_of_which_no_column_is_read_is_not_a_schema_table": (
            "allowed = not name.startswith(_RESERVED)",
            "allowed = True",
        ),
        "a_table_that_is_there_is_no_cte": (" and name not in known:", ":"),
        "functions_are_held_to_the_list": (
            "allowed = second is not None and second.lower() in callable_",
            "allowed = True",
        ),
        "a_view_shows_no_schema_table": (
            "return {name for name in read if not name.startswith(_RESERVED)}, called",
            "return read, called",
        ),
    },
    "execution/sqlite/operators.py": {
        # A column behind a plus has no affinity and no collation.
        "a_plus_before_a_column_is_kept_on_sqlite": (
            'return PrefixOperator(this=operand, operator="+")',
            "return operand",
        ),
        "comparisons_within_comparisons_get_parentheses": (
            "return exp.Paren(this=operand) if isinstance(operand, _COMPARED) else operand",
            "return operand",
        ),
    },
    "execution/headings.py": {
        "a_heading_is_the_original_texts": ("        _add_alias(output, name)\n", "        pass\n"),
    },
    "execution/sqlite/dialect.py": {
        "a_cast_is_an_affinity": (
            "return f\"CAST({self.sql(expression, 'this')} AS {self.sql(expression, 'to')})\"",
            "return super().cast_sql(expression)",
        ),
        "a_comma_is_no_cross_join": (
            "JOINS_HAVE_EQUAL_PRECEDENCE = False",
            "JOINS_HAVE_EQUAL_PRECEDENCE = True",
        ),
        "names_are_written_in_backticks": (
            """["`", '"', ("[", "]")]""",
            """['"', "`", ("[", "]")]""",
        ),
    },
    "execution/sqlite/names.py": {
        "a_cte_recurses_without_being_told": ('cte.parent.set("recursive", True)', "pass"),
        "double_quotes_are_remembered": ("start is not None and sql[start] == '\"'", "False"),
    },
    "execution/parsing/plain_parser.py": {
        # Of interval '1 day' + 2 * interval '1 hour' the 2 alone was left.
        "an_interval_ends_with_its_unit": ("def _parse_interval(", "def parse_nothing("),
        "a_json_literal_is_a_cast": ("TYPE_LITERAL_PARSERS: ClassVar", "NO_PARSERS: ClassVar"),
        "a_column_may_be_called_interval": (
            "and not self._has_amount():\n            return",
            "and False:\n            return",
        ),
    },
    "execution/parsing/plain_calls.py": {
        # ~ -1 became ~-1, and no such operator is there.
        "operators_before_operands_stay_apart": (
            "' ' if operand[:1] in _OPERATOR_SIGNS else ''",
            "''",
        ),
        "a_not_beside_an_operator_has_parentheses": (
            'return f"({sql})" if is_operand else sql',
            "return sql",
        ),
    },
    "execution/postgres/dialect.py": {
        # ARRAY[(SELECT 1), (SELECT 2)] became ARRAY((SELECT 1)).
        "an_array_keeps_what_follows_a_query": ("exp.Array: lambda", "exp.GroupingSets: lambda"),
        "a_char_literal_has_no_length": (
            "exp.DType.CHAR: _build_char_literal",
            "exp.DType.INET: _build_char_literal",
        ),
        # A chain of different operators was written with one of them.
        "each_operator_of_a_chain_is_written": (
            "{this} {node.args['signs']} {other}",
            "{generator.binary(node, node.args['signs'])}",
        ),
        "a_plus_before_a_text_is_kept_on_postgres": (
            "            TokenType.PLUS: read_plus,\n",
            "",
        ),
    },
    "execution/duckdb/dialect.py": {
        "a_factorial_is_no_not": ('token.text == "!"', "False"),
        "a_number_without_a_zero_keeps_its_type": (
            'f".{self._prev.text}"',
            'f"0.{self._prev.text}"',
        ),
        "a_plus_before_a_number_is_kept_on_duckdb": (
            "            TokenType.PLUS: read_plus,\n",
            "",
        ),
        # Of all letters DuckDB takes three without width for spaces.
        "signs_without_width_are_refused": (
            "if token.token_type not in _QUOTED and not _SPACES.isdisjoint(token.text):"
        ),
        "the_distance_of_arrays_is_no_equality": ("if token != TokenType.NULLSAFE_EQ", "if True"),
        "a_path_stays_text": ("return path", "return super().to_json_path(path)"),
    },
    "execution/duckdb/second_check.py": {
        "a_cte_is_known_where_it_can_be_seen": ("if _fold(path[0]) in ctes:", "if True:"),
        "a_recursion_sees_itself_on_its_right_only": (
            'if kind == "RECURSIVE_CTE_NODE" and key == "right":',
            'if kind == "RECURSIVE_CTE_NODE":',
        ),
        "another_database_is_not_reached": "if len(path) > 2:",
        "a_function_under_a_schema_is_another": (
            "if len(path) == 1 and name in allowed:",
            "if path[-1] in allowed:",
        ),
        "a_macro_called_like_a_column_is_refused": (
            "if len(names) == 1 and names[0].lower() in self._macros:"
        ),
        "a_macro_of_the_file_hides_a_function": (
            "(allowlist.functions | WRAPPER_FUNCTIONS | functions) - macros",
            "allowlist.functions | WRAPPER_FUNCTIONS | functions",
        ),
        "only_three_functions_make_tables": (
            '["function_name"] not in _TABLE_FUNCTIONS:',
            '["function_name"] == "":',
        ),
        "arguments_nobody_thought_of_are_refused": (
            "elif _is_empty(value):\n                continue",
            "else:\n                continue",
        ),
        "values_of_arguments_are_known": ("if known is None or value in known:", "if True:"),
        "a_star_of_columns_is_only_order_by_all": (
            "in _ORDERS and value == _ALL:",
            'in _ORDERS and key == "expression":',
        ),
    },
    "execution/duckdb/statement.py": {
        "what_a_plan_scans_is_known": "if catalog != ATTACHED or not is_known:",
        "leaves_without_a_table_are_harmless": "if leaf.name not in _HARMLESS:",
    },
    "execution/duckdb/plan.py": {
        "an_estimate_is_not_told_to_the_restricted": (
            'expected = "" if restricted else',
            'expected = "" if False else',
        )
    },
}
