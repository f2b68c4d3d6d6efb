"""What the guard writes is what the text meant: PostgreSQL's grammar reads both alike.

Compared without the guard's own work (names in full, policies), over the ordinary queries, the
demo's questions and the constructs that two parsers are likely to group in two ways.
"""

from __future__ import annotations

import json
from typing import Any

import postgast
import pytest
from google.protobuf.json_format import MessageToDict

import data.demo_erp
from execution.guard_dialects import parse_statements, render_sql
from execution.postgres.trees import forget_places
from tests.execution.ordinary import read_ordinary

# Not read by sqlglot, so refused: an alias behind USING. IS UNKNOWN is written IS NULL: the same by
# another tree.
UNREAD = ("USING (customer_id) AS u", "IS UNKNOWN")

GROUPINGS = (
    "a NOT IN (1, 2) IS NULL",
    "a NOT LIKE 'x' IS NULL",
    "a !~ 'x' IS NULL",
    "a !~ 'x' = true",
    "a NOT BETWEEN 1 AND 2 IS NULL",
    "(a NOT IN (1)) = b, a NOT IN (1) = b",
    "a ^@ b || c, x ^@ y = z, a || b ^@ c",
    "-a ^ 2, 2 ^ -1, 2 ^ 3 ^ 2, -a::int, |/ 4 + 1, |/ -4, @ -5",
    "a -> 'b' -> 'c' ->> 'd', a || b -> 'c', a - b ->> 'c', a ->> b = c, a -> b + 1",
    "a -> 'x'::text",
    "a ~ b || c, a || b ~ c, a !~ b || c, interval '1.5' day",
    "a LIKE 'x' ESCAPE '!', NOT a LIKE b, a NOT ILIKE b = c",
    'a AT TIME ZONE b || c, a + b AT TIME ZONE \'x\', a COLLATE "C" || b COLLATE "C"',
    "a @> b || c, a ? (b || c), a ?| b, a #> b ->> c, a <@ b && c",
    "a # b & c | d << 2 + 1, a % b * c, a * b % c, 1 - - 1",
    "(ARRAY[1, 2])[1], a[1][2], a[1:2][1:1], a[i + 1], a[-1], a[0]",
    r"E'\\x41\n\u0041\101\'', E'\\\\', 'a\\b', $$a\b$$, U&'d\0061', E'''', $x$a$$b$x$",
    "0b11, 0o17, 0x1F, 1_000, 1e5, 1.5e-3",
    "ARRAY[(SELECT 1), (SELECT 2)], ARRAY[(SELECT a)], ARRAY[1, (SELECT 2)], ARRAY(SELECT a)",
    "EXISTS (SELECT 1) = b, a = ANY (ARRAY[1]) = c, a = SOME (ARRAY[1])",
    "count(DISTINCT (a, b)), string_agg(DISTINCT a, ',' ORDER BY a DESC), sum(a) FILTER (WHERE b)",
    "now(), to_hex(1), variance(a), date_part('year', a), round(a, 2), substr(a, 1), nullif(a, b)",
)


def read(sql: str) -> Any:
    statement = postgast.parse(sql).stmts[0]
    forget_places(statement)
    return _normalize(MessageToDict(statement.stmt))


def _normalize(node: Any) -> Any:
    """One form for what PostgreSQL itself holds for the same."""
    if isinstance(node, list):
        return [_normalize(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _normalize(value) for key, value in node.items()}
    if "sortby_dir" in node:
        falling = node["sortby_dir"] == "SORTBY_DESC"
        if node["sortby_nulls"] == ("SORTBY_NULLS_FIRST" if falling else "SORTBY_NULLS_LAST"):
            node["sortby_nulls"] = "SORTBY_NULLS_DEFAULT"
    if "frameOptions" in node:
        # ROWS 2 PRECEDING is short for BETWEEN 2 PRECEDING AND CURRENT ROW.
        node["frameOptions"] &= ~0x10
    if "typeName" in node:
        names = node["typeName"]["names"]
        node["typeName"]["names"] = names[-1:]
        if names[-1]["String"]["sval"] == "interval" and "A_Const" in node["arg"]:
            node["arg"] = str(node["arg"]).upper()
    return _negate(node)


def _negate(node: dict[str, Any]) -> dict[str, Any]:
    """``a NOT IN b`` and its kin as ``NOT (a IN b)``."""
    inner = node.get("A_Expr")
    if not inner:
        return node
    name, kind = inner["name"][0]["String"]["sval"], inner["kind"]
    positive = {
        "AEXPR_IN": {"<>": "="},
        "AEXPR_LIKE": {"!~~": "~~"},
        "AEXPR_ILIKE": {"!~~*": "~~*"},
        "AEXPR_SIMILAR": {"!~": "~"},
        "AEXPR_OP": {"!~": "~", "!~*": "~*"},
        "AEXPR_NOT_BETWEEN": {"NOT BETWEEN": "BETWEEN"},
        "AEXPR_NOT_BETWEEN_SYM": {"NOT BETWEEN SYMMETRIC": "BETWEEN SYMMETRIC"},
    }.get(kind, {})
    if name not in positive:
        return node
    changed = {
        **inner,
        "name": [{"String": {"sval": positive[name]}}],
        "kind": kind.replace("NOT_", ""),
    }
    return {"BoolExpr": {"boolop": "NOT_EXPR", "args": [{"A_Expr": changed}]}}


def render(sql: str) -> str:
    (tree,) = parse_statements(sql, "postgres")
    return render_sql(tree, "postgres")


def _list_queries() -> list[str]:
    lines = data.demo_erp.QUESTIONS.read_text(encoding="utf-8").splitlines()
    ordinary = [sql for sql in read_ordinary("postgres") if not any(part in sql for part in UNREAD)]
    return [*ordinary, *(json.loads(line)["query"] for line in lines)]


@pytest.mark.parametrize("outputs", GROUPINGS)
def test_operators_are_grouped_as_they_were(outputs: str) -> None:
    sql = f"SELECT {outputs} FROM t"
    assert read(render(sql)) == read(sql)


def test_queries_are_written_as_they_were_meant() -> None:
    changed = [sql for sql in _list_queries() if read(render(sql)) != read(sql)]
    assert not changed
