"""Repairs of the resolver, of PostgreSQL's second reader and of wrappers: name → entry."""

from __future__ import annotations

from tests.mutation.known_repairs import Entry

NAME_REPAIRS: dict[str, dict[str, Entry]] = {
    "execution/name_resolution/sources.py": {
        # SELECT ts_stat.ts_stat FROM unnest(ARRAY['select …']) AS ts_stat(x) called any function.
        "new_names_take_the_place_of_old_ones": (
            "source.columns = rename_columns(source.columns, given, name)",
            "source.columns = (*given, *source.columns)",
        ),
        "a_functions_new_names_take_the_place_of_old_ones": (
            "source = replace(source, columns=rename_columns(outputs, given, name))",
            "source = replace(source, columns=(*given, *outputs))",
        ),
        "names_of_a_functions_columns_are_written_out": (
            "write_names(node, name, source.columns)",
            "pass",
        ),
        "a_cte_used_before_it_is_written_is_refused": "if not cte.new_name:",
        "two_sources_of_one_name_are_refused": "if name in level.sources:",
        "natural_joins_use_every_column": (
            'if join.method == "NATURAL":\n            for source',
            "if False:\n            for source",
        ),
        "sqlites_ctes_see_one_another": ("self._check_is_no_cte(node)", "pass"),
        "from_sees_nothing_of_its_neighbours": (
            "columns = self._walk.resolve_query(node, level.parent, ctes)",
            "columns = self._walk.resolve_query(node, level, ctes)",
        ),
        "ordinality_is_for_functions": 'if node.args.get("ordinality"):',
        "arguments_of_a_table_are_known": ("        check_args(node, TABLE_ARGS)\n", ""),
    },
    "execution/name_resolution/walk.py": {
        "a_ctes_new_names_take_the_place_of_old_ones": (
            "Cte(rename_columns(columns, named, name), new_name, cte.this)",
            "Cte((*named, *columns), new_name, cte.this)",
        ),
        "a_cte_gets_a_name_that_no_table_bears": (
            'new_name = f"{self._resolver.cte_prefix}{self._ctes}"',
            "new_name = alias.this.name",
        ),
        "what_nobody_explained_is_refused": ("    walk.check_nothing_is_left(nodes)\n", ""),
        # ORDER BY (name * id) left the outer table's column out of its wrapper.
        "a_name_within_an_expression_is_no_outputs": (
            "with_outputs=within_items or is_name)",
            "with_outputs=True)",
        ),
        "arguments_of_a_select_are_known": ("            check_args(node, SELECT_ARGS)\n", ""),
    },
    "execution/name_resolution/nodes.py": {
        "arguments_of_a_join_are_known": ("    check_args(join, JOIN_ARGS)\n", ""),
        # Thirty levels of SELECT *, * FROM (…) took all memory.
        "columns_of_a_query_are_bounded": "if len(names) > _MOST_OUTPUTS:",
        "columns_of_joins_are_bounded": "if len(left) + len(right) > _MOST_JOINED:",
    },
    "execution/name_resolution/stars.py": {
        "a_star_with_exceptions_is_refused": (
            'if resolver.dialect != "duckdb" or star.args.get("rename"):'
        ),
        "a_star_excludes_only_what_it_has": "if name not in columns:",
    },
    "execution/name_resolution/columns.py": {
        "a_whole_row_uses_every_column": (
            "self.use_all(source)\n                self._found.origins[id(node)] = source",
            "self._found.origins[id(node)] = source",
        ),
        "a_column_in_double_quotes_that_is_hidden_is_no_string": (
            "            self._check_is_not_hidden(node, name, level)\n",
            "",
        ),
        "a_schema_before_a_column_is_checked": 'if node.args.get("catalog") or known != written:',
        "a_qualified_column_must_be_there": (
            "if source is None or name not in source.columns:",
            "if source is None:",
        ),
        "hidden_columns_of_json_functions_are_no_strings": (
            "if name in _ROW_NUMBERS or is_part:",
            "if name in _ROW_NUMBERS:",
        ),
        # SELECT true FROM t with a column called so gave 1.
        "true_is_a_column_where_one_is_called_so": (
            "if any(name in source.columns for source in",
            "if any(source is None for source in",
        ),
        # SELECT (SELECT ctid FROM a) FROM (SELECT 5 AS ctid) AS b read the system column.
        "a_system_column_is_refused": "if name in _SYSTEM_COLUMNS[self._resolver.dialect]:",
        # SELECT 'x' AS current_catalog, (SELECT current_catalog) called the function.
        "a_name_that_duckdb_takes_for_a_function_is_refused": (
            'is_function = self._resolver.dialect == "duckdb" and',
            "is_function = False and",
        ),
    },
    "execution/postgres/second_check.py": {
        "every_alias_name_is_read_again": (
            "if violation := check_names(select, catalog, reading.is_wrapper):",
            "if violation := None:",
        ),
        "a_field_of_a_row_is_refused": ('if kind == "A_Indirection" and any(', "if False and any("),
        "what_runs_means_what_was_written": (
            "return check_meaning(query, select, catalog, reading.find_wrapped)",
            "return None",
        ),
        "an_operator_that_is_not_listed_is_refused": (
            "if kind in _OPERATORS and (signs := _list_operator(node, kind)):",
            "if False:",
        ),
        "a_function_of_another_schema_is_refused": ('parts[0] == "pg_catalog"', "parts[0]"),
        "a_wrapper_is_exactly_the_one_that_was_made": (
            "if any(statement == _parse_wrapper(text) for",
            "if any(statement and text for",
        ),
        "a_table_outside_its_filter_is_refused": ("elif self._is_open:", "elif True:"),
        "a_bare_name_is_a_cte": (" | (self._bare - self._ctes)", ""),
        "a_tree_too_deep_for_protobuf_is_a_refusal": (
            "except (postgast.PgQueryError, DecodeError) as",
            "except postgast.PgQueryError as",
        ),
    },
    "execution/postgres/names.py": {
        "a_name_behind_a_star_names_nothing": (
            'if not fields or fields[-1].WhichOneof("node") != "a_star":',
            'if target.name or not fields or fields[-1].WhichOneof("node") != "a_star":',
        ),
        "a_column_must_be_among_those_of_its_source": (
            "is_there = columns is not None and (is_star or names[1] in columns)",
            "is_there = columns is not None",
        ),
        "a_table_under_its_schema_names_no_column": ("if len(names) > 2 or not", "if not"),
        "an_inner_source_hides_an_outer_one": (
            "if name in scope.sources:",
            "if scope.sources.get(name) and scope.parent is None:",
        ),
        "new_names_take_the_place_of_old_ones": (
            "return (*given, *columns[len(given) :])",
            "return (*given, *columns)",
        ),
        "only_lateral_sees_its_neighbours": ("left if item.lateral else left.parent", "left"),
        "a_function_has_only_the_names_that_are_written": (
            "            columns = given\n",
            '            columns = (*given, "f", name)\n',
        ),
    },
    "execution/policies/access.py": {
        # Ten rows whose key is masked by NULL became ten groups.
        "a_key_that_is_masked_is_none": (
            "primary_key=table.primary_key if told >= set(table.primary_key) else (),",
            "primary_key=table.primary_key,",
        )
    },
    "execution/policies/wrappers.py": {
        # ILIKE 'hida\' fails where a sampled value begins so.
        "the_planner_tries_nothing_on_samples": (
            '        if dialect == "postgres":\n            # From',
            "        if False:\n            # From",
        ),
        "conditions_stay_outside_of_a_wrapper": ('text += f" {_FENCE[dialect]}"', "pass"),
        "a_masked_column_has_its_type": (
            'return "NULL" if dialect == "sqlite" else f"CAST(NULL AS {column.type})"',
            'return "NULL"',
        ),
        "a_value_that_some_rows_show_keeps_its_affinity": (
            'if shown and dialect == "sqlite" and "hash" not in masks:'
        ),
        "a_table_of_which_no_column_is_used_has_rows": (" or visible[:1]", ""),
        "one_role_that_sees_all_sees_all": ('    if "" in distinct:\n        return ""\n', ""),
        "a_view_that_some_role_sees_as_a_table_is_one": ("    seeing = direct or seeing\n", ""),
        "a_value_is_shown_by_roles_that_see_the_row": (
            'if len(shown) == len(rules) or "" in shown:',
            "if shown:",
        ),
    },
}
