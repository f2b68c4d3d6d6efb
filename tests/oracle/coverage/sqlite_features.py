"""The constructs of a statement in sqlglot's tree: there is no tree of SQLite's own to ask."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.allowlists import Allowlist
from execution.guard_dialects import parse_statements
from execution.name_resolution.nodes import (
    JOIN_ARGS,
    SELECT_ARGS,
    SET_ARGS,
    SUBQUERY_ARGS,
)
from nl2sql.sql.nodes import find_all

_ARGUMENTS = {
    "Select": SELECT_ARGS - {"laterals", "qualify"},
    "Union": SET_ARGS - {"by_name", "side", "kind", "on"},
    "Subquery": SUBQUERY_ARGS,
    "Table": frozenset({"this", "db", "alias"}),
    "Join": JOIN_ARGS,
}

_OF_PARENTHESES = ("Subquery.limit", "Subquery.offset", "Subquery.order", "Subquery.with_")


def list_features(statement: str) -> set[str]:
    """The features of a statement; empty where sqlglot does not read it."""
    try:
        trees = parse_statements(statement, "sqlite")
    except (SqlglotError, RecursionError):
        return set()
    found: set[str] = set()
    for tree in trees:
        for node in find_all(tree, exp.Expr):
            kind = type(node).__name__
            found.add(kind)
            found |= {f"{kind}.{key}" for key, value in node.args.items() if value}
            if isinstance(node, exp.Anonymous):
                found.add(f"function {node.name.lower()}")
            elif isinstance(node, exp.JSONExtract | exp.JSONExtractScalar):
                arrow = "->" if isinstance(node, exp.JSONExtract) else "->>"
                found.add(f"function {arrow}")
            elif isinstance(node, exp.DataType):
                found.add(f"type {node.args.get('kind')}")
            elif isinstance(node, exp.Func):
                found.add(f"function {node.sql_name().lower()}")
    return found


def expect_features(allowlist: Allowlist) -> dict[str, str]:
    """What a generator must produce, each with the reason why it need not."""
    found: dict[str, str] = {}
    for kind in sorted(allowlist.nodes):
        found[kind] = ""
        found |= {f"{kind}.{key}": "" for key in sorted(_ARGUMENTS.get(kind, ()))}
    found |= {f"function {name}": "" for name in sorted(allowlist.functions)}
    found |= {f"type {name}": "" for name in sorted(allowlist.types)}
    return found | dict.fromkeys(_OF_PARENTHESES, "SQLite has no clauses behind parentheses")
