"""The constructs of a statement in DuckDB's tree: node types, their arguments, functions, types."""

from __future__ import annotations

from typing import Any

from execution.allowlists import Allowlist
from execution.duckdb.second_check import _ARGUMENTS, _VALUES, parse_statement
from nl2sql.types import Violation

# Arguments that every node has, or that hold what the parser says of itself.
_COMMON = frozenset({"class", "type", "map", "key"})
_OTHER_NAME = "the parser writes another name for it"
_UNSET = {
    "COMPARE_NOT_IN": "the parser writes NOT around COMPARE_IN",
    "argument catalog_name": "refused: a table of another database",
    "argument identifier": "only the values that a policy binds have one",
    "function ->": "the parser reads a lambda",
    "function !__postfix": "the parser writes factorial",
    "function !~": "the parser writes NOT around regexp_matches",
    "function not_ilike_escape": "the parser writes NOT around ilike_escape",
    "function not_like_escape": "the parser writes NOT around like_escape",
    "function percentile_cont": "the parser writes quantile_cont",
    "function percentile_disc": "the parser writes quantile_disc",
    **dict.fromkeys(
        [f"type {name}" for name in ("char", "dec", "int", "numeric", "real")], _OTHER_NAME
    ),
}


def list_features(statement: str) -> set[str]:
    """The features of a statement; empty where DuckDB's grammar does not accept it."""
    try:
        tree = parse_statement(statement)
    except RecursionError:
        return set()
    if isinstance(tree, Violation):
        return set()
    found: set[str] = set()
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        if not isinstance(node, dict):
            continue
        kind = node.get("type")
        if isinstance(kind, str):
            found.add(kind)
        for key, value in node.items():
            if key not in _COMMON and value not in (None, False, "", [], {}):
                found.add(f"argument {key}")
                if isinstance(kind, str) and not isinstance(value, dict | list):
                    found |= _name_value(kind, key, value)
        if "function_name" in node:
            found.add(f"function {'.'.join(node['qualified_name']['path']).lower()}")
        if kind == "TYPE":
            found.add(f"type {'.'.join(node['qualified_name']['path']).lower()}")
        pending.extend(node.values())
    return found


def expect_features(allowlist: Allowlist) -> dict[str, str]:
    """What a generator must produce, each with the reason why it need not."""
    found = dict.fromkeys(sorted(allowlist.nodes), "")
    found |= {f"argument {name}": "" for name in sorted(_ARGUMENTS - _COMMON)}
    found |= {f"JOIN.ref_type={value}": "" for value in sorted(map(str, _VALUES["ref_type"]))}
    found |= {f"function {name}": "" for name in sorted(allowlist.functions)}
    found |= {f"type {name}": "" for name in sorted(allowlist.types)}
    return found | {name: reason for name, reason in _UNSET.items() if name in found}


def _name_value(kind: str, key: str, value: object) -> set[str]:
    is_word = isinstance(value, str) and value.isupper()
    return {f"{kind}.{key}={value}"} if is_word and key not in ("text", "name") else set()
