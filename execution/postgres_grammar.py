"""The second opinion: PostgreSQL's own grammar reads what the guard is about to let through.

sqlglot and the server may read one text differently; libpg_query (through postgast) is the
server's parser. Every node, function, cast and operator of its tree must be on the allowlist, and
the tables it sees must be those that the guard saw.
"""

from __future__ import annotations

from typing import Any

import postgast
from google.protobuf.message import DecodeError

from execution.allowlists import Allowlist
from nl2sql.types import Violation


def check_grammar(statement: str, tables: frozenset[str], allowlist: Allowlist) -> Violation | None:
    """None when the server's grammar agrees; ``tables`` are the qualified names the guard saw."""
    try:
        tree = postgast.parse(statement)
    except (postgast.PgQueryError, DecodeError) as error:
        # A DecodeError is a tree deeper than protobuf reads.
        return Violation("unparsable", "", f"PostgreSQL's grammar does not accept it: {error}")
    if len(tree.stmts) != 1:
        return Violation("multiple_statements", "", "Exactly one statement is allowed.")
    seen: set[str] = set()
    for _, node in postgast.walk(tree):
        if violation := _check_node(node, allowlist):
            return violation
        if type(node).__name__ == "RangeVar" and node.schemaname:
            seen.add(f"{node.schemaname}.{node.relname}")
    if seen != tables:
        odd = ", ".join(sorted(seen ^ tables))
        return Violation("tables_disagree", odd, f"Two parsers disagree about the tables: {odd}.")
    return None


def _check_node(node: Any, allowlist: Allowlist) -> Violation | None:
    kind = type(node).__name__
    if kind == "ParseResult" or (kind == "Node" and node.WhichOneof("node") is None):
        return None
    if kind not in allowlist.nodes:
        return Violation("node_not_allowed", kind, f"{kind} is not allowed in a query.")
    if kind == "A_Indirection" and any(
        type(postgast.unwrap_node(each)).__name__ != "A_Indices" for each in node.indirection
    ):
        # (row).name reads a column past the check of columns, or calls the function of that name.
        return Violation("node_not_allowed", "(…).…", "A field of a row is not allowed.")
    if kind == "SQLValueFunction":
        operation = postgast.pg_query_pb2.SQLValueFunctionOp.Name(node.op)
        name = operation.removeprefix("SVFOP_").removesuffix("_N").lower()
        return _check_name([name], allowlist.functions, "function")
    if kind == "FuncCall":
        return _check_name(
            [part.string.sval for part in node.funcname], allowlist.functions, "function"
        )
    if kind == "TypeName":
        return _check_name([part.string.sval for part in node.names], allowlist.types, "type")
    if kind == "A_Expr" and len(node.name) != 1:
        operator = ".".join(part.string.sval for part in node.name)
        return Violation("operator_not_allowed", operator, "Qualified operators are not allowed.")
    return None


def _check_name(parts: list[str], allowed: frozenset[str], what: str) -> Violation | None:
    name = ".".join(parts)
    plain = len(parts) == 1 or (len(parts) == 2 and parts[0] == "pg_catalog")
    if plain and parts[-1] in allowed:
        return None
    return Violation(f"{what}_not_allowed", name, f"The {what} {name} is not allowed.")
