"""The second check: parses the rewritten query with PostgreSQL's own grammar.

sqlglot and the server may read the same text differently; libpg_query (through postgast) is the
server's parser. Every node, function, cast and operator of its tree must be on the allowlist, and
its tables must be those that the guard found. If there is a policy, each of them must be inside its
wrapper, and the wrapper must be, node for node, the one that was built. Every ``alias.name`` must
be a column (``names.py``): otherwise it is a call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

import postgast

from execution.allowlists import Allowlist, check_name
from execution.postgres.meaning import check_meaning
from execution.postgres.names import check_names
from execution.postgres.trees import forget_places, list_children, parse_statement
from nl2sql.catalog import Catalog
from nl2sql.types import Violation

# The kinds of nodes with an operator, and the field with its name.
_OPERATORS = {"A_Expr": "name", "SubLink": "oper_name", "SortBy": "use_op"}
# The same of all nodes that may call a function.
_CALLS = {**_OPERATORS, "FuncCall": "funcname", "TypeName": "names"}
# Operators of other languages.
_INSTEAD = {"==": "=", "**": "^", "!": "NOT", "=~": "~"}
_ALLOW_OPERATOR = (
    "only built-in ones and those of known extensions are; the database's allowlist can add it"
)
_NO_SET_OPERATION = postgast.pg_query_pb2.SETOP_NONE


def check_grammar(
    query: str,
    statement: str,
    tables: frozenset[str],
    allowlist: Allowlist,
    catalog: Catalog,
    wrappers: Mapping[str, Collection[str]] | None = None,
) -> Violation | None:
    """Returns None if the server's grammar agrees with what the guard made of ``query``.

    ``tables`` are the qualified names that the guard found, ``catalog`` has their columns;
    ``wrappers`` are the derived tables that replace each of them, None without a policy.
    """
    tree = parse_statement(statement)
    if isinstance(tree, Violation):
        return tree
    reading = _PostgresReading(tables, allowlist, wrappers)
    if violation := reading.check(tree):
        return violation
    select = tree.stmt.select_stmt
    if violation := check_names(select, catalog, reading.find_wrapped):
        return violation
    return check_meaning(query, select, catalog, reading.find_wrapped)


class _PostgresReading:
    """One walk over the server's tree."""

    def __init__(
        self,
        tables: frozenset[str],
        allowlist: Allowlist,
        wrappers: Mapping[str, Collection[str]] | None,
    ) -> None:
        self._tables = tables
        self._allowlist = allowlist
        self._is_open = wrappers is None
        self._wrappers = wrappers or {}
        self._seen: set[str] = set()
        self._bare: set[str] = set()
        self._ctes: set[str] = set()

    def check(self, tree: Any) -> Violation | None:
        pending: list[Any] = [tree]
        while pending:
            node = pending.pop()
            kind = type(node).__name__
            if kind == "Node":
                inner = node.WhichOneof("node")
                if inner is not None:
                    pending.append(getattr(node, inner))
                continue
            if kind == "SelectStmt" and self.find_wrapped(node):
                continue
            if kind == "RangeVar":
                name = f"{node.schemaname}.{node.relname}"
                if not node.schemaname:
                    self._bare.add(node.relname)
                elif self._is_open:
                    self._seen.add(name)
                else:
                    return Violation("unfiltered_table", name, f"{name} stands outside its filter.")
            elif kind == "CommonTableExpr":
                self._ctes.add(node.ctename)
            if violation := _check_node(node, kind, self._allowlist):
                return violation
            pending.extend(list_children(node))
        if odd := sorted((self._seen ^ self._tables) | (self._bare - self._ctes)):
            names = ", ".join(odd)
            return Violation("tables_disagree", names, f"Two parsers disagree about {names}.")
        return None

    def find_wrapped(self, statement: Any) -> str:
        """The table that the statement is the wrapper of; empty if it is not one."""
        first = statement if statement.op == _NO_SET_OPERATION else statement.larg
        if not self._wrappers or len(first.from_clause) != 1:
            return ""
        source = first.from_clause[0]
        kind = source.WhichOneof("node")
        if kind == "range_var":
            name = f"{source.range_var.schemaname}.{source.range_var.relname}"
            names = [name] if name in self._wrappers else []
        elif kind == "range_subselect":
            # The wrapper of a view.
            names = list(self._wrappers)
        else:
            return ""
        if not names:
            return ""
        forget_places(statement)
        for name in names:
            if any(statement == _parse_wrapper(text) for text in self._wrappers[name]):
                self._seen.add(name)
                return name
        return ""


@lru_cache(maxsize=4096)
def _parse_wrapper(text: str) -> Any:
    statement = postgast.parse(text).stmts[0].stmt.select_stmt
    forget_places(statement)
    return statement


@lru_cache(maxsize=4096)
def list_functions(text: str) -> frozenset[str]:
    """The functions that a query calls, as ``Allowlist`` spells them."""
    return _list_names(text, {"FuncCall": "funcname"})


def list_extended(text: str, extended: Collection[str]) -> frozenset[str]:
    """Those of the functions, operators and types in ``text`` that extensions must have defined."""
    if not extended:
        return frozenset()
    return _list_names(text, _CALLS).intersection(extended)


def calls_own(text: str, allowlist: Allowlist) -> bool:
    """Whether a query calls a function, operator or cast that may not be PostgreSQL's own."""
    nodes = ((node, type(node).__name__) for _, node in postgast.walk(postgast.parse(text)))
    return bool(list_extended(text, allowlist.extended)) or any(
        kind in _CALLS and _check_node(node, kind, allowlist) for node, kind in nodes
    )


def _list_names(text: str, kinds: Mapping[str, str]) -> frozenset[str]:
    """The names in nodes of those kinds, each with the field that holds it."""
    return frozenset(
        _spell(getattr(node, key))
        for _, node in postgast.walk(postgast.parse(text))
        if (key := kinds.get(type(node).__name__))
    )


def _check_node(node: Any, kind: str, allowlist: Allowlist) -> Violation | None:
    if kind not in allowlist.nodes:
        return Violation("node_not_allowed", kind, f"{kind} is not allowed in a query.")
    if kind == "A_Indirection" and any(
        type(postgast.unwrap_node(step)).__name__ != "A_Indices" for step in node.indirection
    ):
        # (row).name reads a column past the check of columns, or calls the function of that name.
        return Violation("node_not_allowed", "(…).…", "A field of a row is not allowed.")
    if kind == "SQLValueFunction":
        operation = postgast.pg_query_pb2.SQLValueFunctionOp.Name(node.op)
        name = operation.removeprefix("SVFOP_").removesuffix("_N").lower()
        return check_name("function", name, allowlist.functions)
    if kind == "FuncCall":
        return check_name("function", _spell(node.funcname), allowlist.functions)
    if kind == "TypeName":
        return check_name("type", _spell(node.names), allowlist.types)
    if kind in _OPERATORS:
        return _check_operator(_spell(getattr(node, _OPERATORS[kind])), allowlist.operators)
    return None


def _check_operator(name: str, allowed: frozenset[str]) -> Violation | None:
    """The name is empty where there is no operator, and the word BETWEEN is none."""
    if name in allowed or not name or (name[0].isalpha() and "." not in name):
        return None
    instead = f"write {_INSTEAD[name]}" if name in _INSTEAD else _ALLOW_OPERATOR
    return Violation(
        "operator_not_allowed", name, f"The operator {name} is not allowed: {instead}."
    )


def _spell(nodes: Iterable[Any]) -> str:
    parts = [node.string.sval for node in nodes]
    return parts[-1] if len(parts) == 2 and parts[0] == "pg_catalog" else ".".join(parts)
