"""Judges whether what runs means what was written, to PostgreSQL's own parser.

Both texts are parsed, what the guard injects is taken out of the second tree, and both trees are
deparsed: the two texts must be equal. Shares no code with ``execution/postgres/meaning.py``, which
makes the same claim in the product. For a sample both texts also run on a server: equal rows, or
both fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import postgast
import psycopg
from google.protobuf.json_format import MessageToDict, ParseDict

from execution.guard.guard import guard_query
from execution.policies.access import CompiledPolicy, open_access
from execution.policies.policy_file import parse_policy
from execution.postgres.embedded import SUPERUSER, EmbeddedServer
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.oracle.meaning.postgres_texts import SCHEMA, TextMaker

Fetch = Callable[[str], object]
"""Runs a text; gives its rows or how it failed."""

_COLUMNS = (
    "i integer|k integer|n numeric|x float8|s text|b bool|j jsonb|a integer[]|d date|"
    "t timestamptz|y interval|r int4range|p point|o box|ip inet|v vector(2)"
)


def _build_column(text: str) -> Column:
    name, _, kind = text.partition(" ")
    return Column(name, kind)


CATALOG = Catalog(
    "meaning",
    (
        Table(
            "meaning",
            "things",
            tuple(_build_column(column) for column in _COLUMNS.split("|")),
        ),
    ),
    search_path=("meaning",),
)
_FILTERED = CompiledPolicy(
    parse_policy(
        {
            "version": 1,
            "roles": {
                "clerk": {
                    "tables": {"visible": ["meaning.things"]},
                    "row_filters": {"meaning.things": "i > 0"},
                }
            },
        }
    ),
    CATALOG,
).access(Principal("ann", ("clerk",)))
assert not isinstance(_FILTERED, Violation)
ACCESSES = (open_access(CATALOG), _FILTERED)
# Functions and types under their one name, and what two kinds of nodes say alike.
_POSITIVE = {
    ("AEXPR_IN", "<>"): ("AEXPR_IN", "="),
    ("AEXPR_LIKE", "!~~"): ("AEXPR_LIKE", "~~"),
    ("AEXPR_ILIKE", "!~~*"): ("AEXPR_ILIKE", "~~*"),
    ("AEXPR_SIMILAR", "!~"): ("AEXPR_SIMILAR", "~"),
    ("AEXPR_NOT_BETWEEN", "NOT BETWEEN"): ("AEXPR_BETWEEN", "BETWEEN"),
    ("AEXPR_NOT_BETWEEN_SYM", "NOT BETWEEN SYMMETRIC"): (
        "AEXPR_BETWEEN_SYM",
        "BETWEEN SYMMETRIC",
    ),
}
_NEGATIVE_TESTS = {"IS_NOT_TRUE": "IS_TRUE", "IS_NOT_FALSE": "IS_FALSE"}
_NAMES = {"FuncCall": "funcname", "A_Expr": "name", "TypeName": "names"}


@dataclass(slots=True)
class MeaningTally:
    """What became of the statements: refusals by code, and every difference whole."""

    statements: int = 0
    admitted: int = 0
    compared: int = 0
    alike: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def render(self) -> str:
        """The counts, and the differences."""
        codes = ", ".join(f"{code} {count}" for code, count in self.refused.most_common())
        return "\n".join(
            (
                f"{self.statements} statements, {self.admitted} admitted; refused: {codes}",
                f"{self.compared} run twice, {self.alike} of them with rows; "
                f"{len(self.differences)} differences",
                *self.differences,
            )
        )


def judge_meanings(
    statements: int, *, seed: int = 0, fetch: Fetch | None = None, run_every: int = 20
) -> MeaningTally:
    """Guards that many statements; ``fetch`` also runs every so many of those admitted."""
    tally, maker = MeaningTally(), TextMaker(seed)
    for at in range(statements):
        sql, access = maker.make(), ACCESSES[at % 2]
        tally.statements += 1
        verdict = guard_query(sql, access)
        if isinstance(verdict, Violation):
            tally.refused[verdict.code] += 1
            continue
        tally.admitted += 1
        if difference := find_difference(sql, verdict.sql):
            tally.differences.append(difference)
        # Without a policy the rows are the same, too.
        if fetch is not None and at % 2 == 0 and tally.admitted % run_every == 0:
            _run_both(sql, verdict, fetch, tally)
    return tally


def _run_both(sql: str, query: GuardedQuery, fetch: Fetch, tally: MeaningTally) -> None:
    plain, guarded = fetch(sql), fetch(query.sql)
    tally.compared += 1
    tally.alike += isinstance(plain, list)
    if repr(plain) != repr(guarded):
        tally.differences.append(f"rows of {sql!r}\n  {plain!r}\n  {query.sql!r}\n  {guarded!r}")


def find_difference(sql: str, rewritten: str) -> str:
    """Both deparsed texts if they differ; empty if they are equal."""
    try:
        texts = [read_meaning(sql), read_meaning(rewritten)]
    except postgast.PgQueryError as error:
        return f"{sql!r} is not PostgreSQL's: {error}"
    return "" if texts[0] == texts[1] else f"{sql!r}\n  {texts[0]}\n  {texts[1]}"


def read_meaning(sql: str) -> str:
    """The text that PostgreSQL's parser makes of its own tree, without what the guard injects."""
    tree = _simplify(MessageToDict(postgast.parse(sql)), {})
    return str(postgast.deparse(ParseDict(tree, postgast.pg_query_pb2.ParseResult())))


@contextmanager
def open_things(server: EmbeddedServer) -> Iterator[Fetch]:
    """Creates the table in a database of its own; gives what runs texts there."""
    with psycopg.connect(server.url("postgres", SUPERUSER), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS meaning WITH (FORCE)")
        connection.execute("CREATE DATABASE meaning")
    with psycopg.connect(server.url("meaning", SUPERUSER), autocommit=True) as connection:
        connection.execute(SCHEMA.encode())
        connection.execute("SET search_path = meaning, public")
        connection.execute("SET statement_timeout = '2s'")

        def fetch(sql: str) -> object:
            try:
                # As text: a time that Python cannot hold is one all the same.
                cursor = connection.execute(f"SELECT q::text FROM ({sql}\n) AS q".encode())
                return cursor.fetchall()
            except psycopg.Error as error:
                return error.sqlstate

        yield fetch


def _simplify(node: Any, ctes: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_simplify(item, ctes) for item in node]
    if not isinstance(node, dict):
        return node
    ctes = {**ctes, **_name_ctes(node)}
    if "RangeSubselect" in node and (table := _unwrap(node["RangeSubselect"])):
        return {"RangeVar": table}
    # The deparser spells some constants by their place.
    node = {key: _simplify(value, ctes) for key, value in node.items() if key != "location"}
    if "relname" in node:
        name = ctes.get(node["relname"], node["relname"])
        alias = node.get("alias") or {"aliasname": name}
        # A CTE's new name is known by its place: the name in the query is its alias.
        name = alias["aliasname"] if node["relname"].startswith("_cte") else name
        return {**node, "relname": name, "schemaname": "", "alias": alias}
    if "ctename" in node:
        node["ctename"] = ctes.get(node["ctename"], node["ctename"])
    return _normalize(node)


def _name_ctes(node: Mapping[str, Any]) -> dict[str, str]:
    # The statements of the fuzzer have one CTE at most.
    clause = node.get("withClause", {}).get("ctes", ())
    return {item["CommonTableExpr"]["ctename"]: "c" for item in clause}


def _unwrap(source: Mapping[str, Any]) -> dict[str, Any] | None:
    """The table in the place of its wrapper, whose inner alias is ``_0``."""
    query = source["subquery"].get("SelectStmt", {})
    query = query.get("larg", query)
    inner = query.get("fromClause", [{}])[0].get("RangeVar", {})
    if inner.get("alias", {}).get("aliasname") != "_0":
        return None
    return {**inner, "schemaname": "", "alias": source["alias"]}


def _normalize(node: dict[str, Any]) -> dict[str, Any]:
    """One form for what PostgreSQL itself holds for the same."""
    if "sortby_dir" in node:
        falls = node["sortby_dir"] == "SORTBY_DESC" or (
            "useOp" in node and node["useOp"][0]["String"]["sval"] == ">"
        )
        nulls = node["sortby_nulls"]
        if nulls == "SORTBY_NULLS_DEFAULT":
            nulls = "SORTBY_NULLS_FIRST" if falls else "SORTBY_NULLS_LAST"
        direction = "SORTBY_DESC" if falls else "SORTBY_ASC"
        node = {"node": node["node"], "sortby_dir": direction, "sortby_nulls": nulls}
    if "frameOptions" in node:
        # ROWS 2 PRECEDING is short for BETWEEN 2 PRECEDING AND CURRENT ROW.
        node["frameOptions"] |= 0x10
    for kind, key in _NAMES.items():
        if kind in node or (kind == "TypeName" and "names" in node):
            inner = node.get(kind, node)
            names = inner[key]
            if len(names) == 2 and names[0]["String"]["sval"] == "pg_catalog":
                inner[key] = names[1:]
    if "fval" in node and isinstance(node["fval"], dict) and "fval" in node["fval"]:
        node["fval"]["fval"] = _read_number(node["fval"]["fval"])
    return _negate(node)


def _read_number(text: str) -> str:
    text = text.replace("_", "")
    if text[:2].lower() in ("0x", "0o", "0b"):
        return str(int(text, 0))
    return text.replace(".", "0.", 1) if text.lstrip("-").startswith(".") else text


def _negate(node: dict[str, Any]) -> dict[str, Any]:
    """``a NOT IN b`` and its kin as ``NOT (a IN b)``."""
    if inner := node.get("A_Expr"):
        key = inner["kind"], inner["name"][0]["String"]["sval"]
        if key in _POSITIVE:
            kind, name = _POSITIVE[key]
            return _not({"A_Expr": {**inner, "kind": kind, "name": [{"String": {"sval": name}}]}})
    if inner := node.get("BooleanTest"):
        test = inner["booltesttype"]
        if test in _NEGATIVE_TESTS:
            return _not({"BooleanTest": {**inner, "booltesttype": _NEGATIVE_TESTS[test]}})
        if test == "IS_UNKNOWN":
            return {"NullTest": {"arg": inner["arg"], "nulltesttype": "IS_NULL"}}
    return node


def _not(node: dict[str, Any]) -> dict[str, Any]:
    return {"BoolExpr": {"boolop": "NOT_EXPR", "args": [node]}}
