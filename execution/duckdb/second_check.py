"""The second check: parses the rewritten query with DuckDB's own parser.

sqlglot and DuckDB may read the same text differently; ``json_serialize_sql`` returns DuckDB's own
tree, without looking up or running anything. Every node, function and cast of that tree must be on
the allowlist, every argument of a node must be known here, every qualified table must be one that
the guard found, and every other a CTE that is visible there. If there is a policy, each table must
be inside its wrapper, which must be, node for node, the one that was built.

A function is checked by the name under which DuckDB will look it up. Does not see whether the
database has a macro of that name (``file.py`` does), nor what a view reads.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import duckdb

from execution.allowlists import Allowlist, check_name
from nl2sql.sql.names import fold_name
from nl2sql.types import Violation

Tree = dict[str, Any]

# Functions that are allowed in FROM; some in ``functions`` also exist as table functions.
_TABLE_FUNCTIONS = frozenset({"generate_series", "json_each", "json_tree", "range", "unnest"})

# What the policies' wrappers call, besides the functions of the filters.
WRAPPER_FUNCTIONS = frozenset({"list_contains", "sha256"})

# The arguments of nodes that may be set. Any other is a construct that the guard does not know:
# sample, at_clause, columns, qualified_exclude_list, rename_list, named_param_map, …
_ARGUMENTS = frozenset(
    "aggregate_handling alias aliases arg_orders arguments case_checks catalog catalog_name child "
    "children class collation column_name_alias column_names comparison_type condition cte_map "
    "cte_name distinct distinct_on_targets else_expr end end_expr exclude_clause exclude_list expr "
    "expression filter filter_expr from_table function function_name group_expressions group_sets "
    "has_ignore_nulls having identifier ignore_nulls input is_implicit is_operator join_type key "
    "kind left lhs limit limit_type literal lower materialized modifiers name nearest_count "
    "nearest_order_type node null_order offset order_bys orders partitions path qualified_name "
    "qualify query_node ref_type relation_name right schema schema_name select_list "
    "setop_all setop_type start start_expr subquery subquery_type syntax_type table_name text "
    "then_expr try_cast type type_expr type_name union_all upper using_columns value values "
    "when_expr where_clause with_ordinality".split()
)
# The allowed values of these arguments.
_VALUES = {
    "limit_type": frozenset({"PERCENTAGE", "ROW_COUNT"}),
    "nearest_count": frozenset({1}),
    "nearest_order_type": frozenset({"ASCENDING"}),
    "ref_type": frozenset({"ASOF", "CROSS", "NATURAL", "POSITIONAL", "REGULAR"}),
    "syntax_type": frozenset({"SINGLE_ARROW"}),
}
_INSTEAD = {
    "columns": "COLUMNS is not allowed: name the columns.",
    "index": "ARRAY(SELECT x …) is not allowed: write (SELECT list(x) …).",
}
_ORDERS = ("ASCENDING", "DESCENDING", "ORDER_DEFAULT")
# The tree of ORDER BY ALL; elsewhere such a star is COLUMNS(…).
_ALL: Tree = {
    "class": "STAR",
    "type": "STAR",
    "alias": "",
    "relation_name": "",
    "exclude_list": [],
    "replace_list": [],
    "columns": True,
    "expr": None,
    "qualified_exclude_list": [],
    "rename_list": [],
}
# A node's position in the text: the only difference between equal statements.
_PLACES = ("query_location", "query_location_length")

_PARAMETER = "VALUE_PARAMETER"


def check_grammar(
    statement: str,
    tables: frozenset[str],
    allowlist: Allowlist,
    wrappers: Mapping[str, Collection[str]] | None = None,
) -> Violation | None:
    """Returns None if DuckDB's grammar agrees.

    ``tables`` are the qualified names that the guard found; ``wrappers`` the derived tables that
    replace them, None without a policy.
    """
    tree = parse_statement(statement)
    if isinstance(tree, Violation):
        return tree
    reading = _DuckdbReading(allowlist, wrappers)
    if violation := reading.check(tree):
        return violation
    if odd := sorted(_fold_all(reading.tables) ^ _fold_all(tables)):
        names = ", ".join(odd)
        return Violation("tables_disagree", names, f"Two parsers disagree about {names}.")
    return None


def check_statement(
    statement: str,
    tables: Iterable[str],
    allowlist: Allowlist,
    *,
    functions: frozenset[str] = frozenset(),
    macros: frozenset[str] = frozenset(),
) -> Violation | None:
    """Returns None if a guarded statement reads only ``tables`` and calls only allowed functions.

    Wrappers are not distinguished from the rest, so parameters, the functions of wrappers and any
    cast are allowed (a masked column is a NULL of its type). ``functions`` are allowed in addition;
    ``macros`` are those of the database, in lower case, and are refused.
    """
    tree = parse_statement(statement)
    if isinstance(tree, Violation):
        return tree
    lenient = replace(
        allowlist,
        nodes=allowlist.nodes | {_PARAMETER},
        functions=(allowlist.functions | WRAPPER_FUNCTIONS | functions) - macros,
    )
    reading = _DuckdbReading(lenient, None, macros, any_type=True)
    if violation := reading.check(tree):
        return violation
    if odd := sorted(_fold_all(reading.tables) - _fold_all(tables)):
        return Violation("unknown_table", odd[0], f"The table {odd[0]} is not one of the query's.")
    return None


def list_functions(statement: str) -> frozenset[str]:
    """The functions that a query calls outside FROM, in lower case; none if it is not a query."""
    tree = parse_statement(statement)
    found: set[str] = set()
    pending: list[Any] = [] if isinstance(tree, Violation) else [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if node.get("type") == "TABLE_FUNCTION":
                node = node["function"]["arguments"]
            elif "function_name" in node:
                found.add(".".join(node["qualified_name"]["path"]).lower())
        if isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return frozenset(found)


def parse_statement(statement: str) -> Tree | Violation:
    """DuckDB's tree of one SELECT, without positions in the text, or why there is none.

    Raises RecursionError if it is nested too deeply for Python.
    """
    try:
        # The driver does not accept half of a surrogate pair.
        statement.encode()
        with open_parser().cursor() as connection:
            row = connection.execute("SELECT json_serialize_sql($1)", [statement]).fetchone()
    except (duckdb.Error, UnicodeError) as error:
        return Violation("unparsable", "", f"DuckDB's parser does not accept it: {error}")
    assert row is not None
    value = json.loads(row[0], object_hook=_forget_places)
    if value["error"]:
        if value["error_type"] == "parser":
            return Violation(
                "unparsable", "", f"DuckDB's parser does not accept it: {value['error_message']}"
            )
        return Violation("not_a_query", "", "Only a query may run, this is none.")
    if len(value["statements"]) != 1:
        return Violation("multiple_statements", "", "Exactly one statement is allowed.")
    tree: Tree = value["statements"][0]["node"]
    return tree


class _DuckdbReading:
    """One walk over DuckDB's tree. ``tables`` are the qualified names of tables that it found."""

    def __init__(
        self,
        allowlist: Allowlist,
        wrappers: Mapping[str, Collection[str]] | None,
        macros: frozenset[str] = frozenset(),
        *,
        any_type: bool = False,
    ) -> None:
        self._allowlist = allowlist
        self._macros = macros
        self._any_type = any_type
        self._wrappers = [
            (name, _parse_wrapper(text))
            for name, texts in (wrappers or {}).items()
            for text in texts
        ]
        self._is_open = wrappers is None
        self.tables: set[str] = set()

    def check(self, node: Any, ctes: frozenset[str] = frozenset()) -> Violation | None:
        """The first violation in a node or below it; ``ctes`` are the names that it can see."""
        if isinstance(node, list):
            for child in node:
                if violation := self.check(child, ctes):
                    return violation
            return None
        if not isinstance(node, dict):
            return None
        kind = node.get("type")
        if kind == "SELECT_NODE" and self._is_wrapper(node):
            return None
        if violation := self._check_node(node, kind, ctes):
            return violation
        clause = node.get("cte_map")
        for entry in clause["map"] if clause else ():
            if violation := self.check(entry["value"], ctes):
                return violation
            ctes |= {_fold(entry["key"])}
        for key, value in node.items():
            if key == "cte_map" or not isinstance(value, dict | list):
                continue
            if kind in _ORDERS and value == _ALL:
                continue
            within = ctes
            if kind == "RECURSIVE_CTE_NODE" and key == "right":
                within = ctes | {_fold(node["cte_name"])}
            if violation := self.check(value, within):
                return violation
        return None

    def _check_node(self, node: Tree, kind: object, ctes: frozenset[str]) -> Violation | None:
        for key, value in node.items():
            if key in _ARGUMENTS:
                known = _VALUES.get(key)
                if known is None or value in known:
                    continue
            elif value in (None, False, "", []):
                continue
            what = _INSTEAD.get(key, f"{kind} with {key} is not allowed.")
            return Violation("node_not_allowed", key, what)
        if kind is None:
            return None
        if kind not in self._allowlist.nodes:
            return Violation("node_not_allowed", str(kind), f"{kind} is not allowed in a query.")
        if kind == "BASE_TABLE":
            return self._check_table(node, ctes)
        if "function_name" in node:
            return _check_name(node, self._allowlist.functions, "function")
        if kind == "TYPE" and not self._any_type:
            return _check_name(node, self._allowlist.types, "type")
        if kind == "COLUMN_REF":
            return self._check_column(node)
        if kind == "TABLE_FUNCTION":
            name = node["function"]["function_name"]
            return check_name("function", name, _TABLE_FUNCTIONS, " in FROM")
        return None

    def _check_column(self, node: Tree) -> Violation | None:
        """Checks bare names that could be functions, such as ``current_date``."""
        names = node["column_names"]
        if len(names) == 1 and names[0].lower() in self._macros:
            return Violation(
                "function_not_allowed", names[0], f"The function {names[0]} is not allowed."
            )
        return None

    def _check_table(self, node: Tree, ctes: frozenset[str]) -> Violation | None:
        path = node["qualified_name"]["path"]
        name = ".".join(path)
        if len(path) == 1:
            if _fold(path[0]) in ctes:
                return None
            return Violation("unknown_table", name, f"There is no table {name} here.")
        if len(path) > 2:
            return Violation("unknown_table", name, f"{name} is in another database.")
        if not self._is_open:
            return Violation("unfiltered_table", name, f"{name} stands outside its filter.")
        self.tables.add(name)
        return None

    def _is_wrapper(self, node: Tree) -> bool:
        """Whether the node is the wrapper of a table, whose inside is known."""
        for name, wrapper in self._wrappers:
            if node == wrapper:
                self.tables.add(name)
                return True
        return False


def _check_name(node: Tree, allowed: frozenset[str], what: str) -> Violation | None:
    path = node["qualified_name"]["path"]
    return check_name(what, ".".join(path).lower(), allowed if len(path) == 1 else ())


def _forget_places(node: Tree) -> Tree:
    for key in _PLACES:
        node.pop(key, None)
    return node


@lru_cache(maxsize=4096)
def _parse_wrapper(text: str) -> Tree | Violation:
    # A wrapper that DuckDB does not parse equals no node of its tree.
    return parse_statement(text)


@cache
def open_parser() -> duckdb.DuckDBPyConnection:
    """An empty in-memory database, used only for parsing; a cursor of it costs microseconds."""
    return duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "enable_external_access": "false",
            "lock_configuration": "true",
            "memory_limit": "256MiB",
            "threads": "1",
        },
    )


def _fold(name: str) -> str:
    return fold_name(name, "duckdb")


def _fold_all(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_fold, names))
