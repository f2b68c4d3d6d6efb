"""Computes a fingerprint of a PostgreSQL plan: queries with the same fingerprint return equal rows.

EXPLAIN shows what each step reads, under which conditions and in which order; the outputs are in
the query. Together they determine the result, however the query was written. Differences without
meaning (costs, names of aliases, outputs of steps) are left out. Plans with steps that EXPLAIN does
not describe completely (windows, VALUES, samples, foreign tables) have no fingerprint.

Knows EXPLAIN's JSON and nothing of connections. Equal queries may have different plans.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import parse_one

_TELLING = frozenset(
    {
        "Aggregate",
        "Append",
        "Bitmap Heap Scan",
        "Bitmap Index Scan",
        "BitmapAnd",
        "BitmapOr",
        "CTE Scan",
        "Gather",
        "Gather Merge",
        "Group",
        "Hash",
        "Hash Join",
        "Incremental Sort",
        "Index Only Scan",
        "Index Scan",
        "Limit",
        "Materialize",
        "Memoize",
        "Merge Append",
        "Merge Join",
        "Nested Loop",
        "Result",
        "Seq Scan",
        "SetOp",
        "Sort",
        "Subquery Scan",
        "Unique",
    }
)
_WITHOUT_MEANING = frozenset(
    {
        "Alias",
        "Async Capable",
        "Disabled",
        "Inner Unique",
        "Output",
        "Parallel Aware",
        "Plan Rows",
        "Plan Width",
        "Planned Partitions",
        "Plans",
        "Startup Cost",
        "Total Cost",
        "Workers Planned",
    }
)
# A text constant, which is kept, or a name before a dot.
_NAME = re.compile(r"""('(?:[^']|'')*')|("(?:[^"]|"")+"|[A-Za-z_][\w$]*)(?=\.)""")


def fingerprint_plan(plan: Mapping[str, Any], sql: str, params: Sequence[object]) -> str:
    """The fingerprint; empty if the plan does not show enough, or the query does not parse.

    >>> scan = {"Node Type": "Seq Scan", "Relation Name": "t"}
    >>> one, other = {**scan, "Alias": "a", "Plan Rows": 5}, {**scan, "Alias": "b", "Plan Rows": 7}
    >>> fingerprint_plan(one, "SELECT a.id FROM t a", ()) == fingerprint_plan(
    ...     other, "SELECT b.id FROM t b", ()
    ... )
    True
    >>> fingerprint_plan({"Node Type": "WindowAgg"}, "SELECT 1", ())
    ''
    """
    nodes = list(_walk(plan))
    if any(node["Node Type"] not in _TELLING for node in nodes):
        return ""
    try:
        given = _list_given(parse_one(sql, "postgres"))
    except (SqlglotError, RecursionError):
        return ""
    aliases: dict[str, str] = {}
    for node in nodes:
        if alias := node.get("Alias"):
            aliases.setdefault(alias, f"#{len(aliases) + 1}")
    program = [_reduce(plan, aliases), _rename(given, aliases), repr(tuple(params))]
    text = json.dumps(program, sort_keys=True)
    return blake2b(text.encode(errors="replace"), digest_size=16).hexdigest()


def _list_given(tree: exp.Expr) -> list[str]:
    """The outputs of each SELECT, the limits, and the tables' schemas, which plans do not show."""
    tables = [f"{table.db}.{table.name}" for table in find_all(tree, exp.Table)]
    return tables + [
        part.sql("postgres")
        for node in find_all(tree, exp.Select, exp.SetOperation)
        for part in (
            *node.expressions,
            *(node.args.get(name) for name in ("distinct", "limit", "offset", "fetch")),
        )
        if isinstance(part, exp.Expr)
    ]


def _walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _walk(child)


def _reduce(node: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """What a step does, with its aliases replaced by numbers."""
    kept = {
        key: _rename(value, aliases) for key, value in node.items() if key not in _WITHOUT_MEANING
    }
    return {**kept, "Plans": [_reduce(child, aliases) for child in node.get("Plans", ())]}


def _rename(value: Any, aliases: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_rename(item, aliases) for item in value]
    if not isinstance(value, str):
        return value

    def number(match: re.Match[str]) -> str:
        name = match[2]
        if name is None:
            return match[0]
        plain = name[1:-1].replace('""', '"') if name.startswith('"') else name
        return aliases.get(plain, name)

    return _NAME.sub(number, value)
