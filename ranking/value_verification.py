"""Checks in the database whether the texts that a query looks for are stored in their columns.

Texts that retrieval found among the cell values need no check. For the others a separate query is
run, guarded for the same principal as the candidate: a value that policies hide counts as missing,
so that the check reveals no more than the candidate itself. Only equality with a text column of a
known table is checked; a check that fails or takes too long does not count against a candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.protocols import Executor, Guard
from nl2sql.sql.column_kinds import TEXTS
from nl2sql.sql.names import enquote
from nl2sql.types import (
    ExecutionLimits,
    GuardedQuery,
    Principal,
    Question,
    ResultSet,
    ValueMatch,
)
from ranking.query import ColumnUse, Query
from ranking.score.points import Measure

# With an index it takes a few milliseconds; a scan is not worth its time.
_LIMITS = ExecutionLimits(timeout_ms=500, result_bytes=1024)


class ValueVerifier:
    """Measures the share of a candidate's texts that no row contains."""

    def __init__(self, guard: Guard, executor: Executor, *, most_probes: int) -> None:
        """``most_probes``: the most texts to check for one candidate; the others are skipped."""
        self._guard = guard
        self._executor = executor
        self._most_probes = most_probes

    async def measure(
        self, question: Question, query: Query, values: Sequence[ValueMatch]
    ) -> tuple[Measure, ...]:
        """The measure ``values_unknown`` with the share, or none. Raises Unavailable."""
        known = {(f"{match.table}.{match.column}", match.value) for match in values}
        texts = list(dict.fromkeys(list_texts(query)))
        asked = [(use, text) for use, text in texts if (use.name, text) not in known]
        unknown = 0
        for use, text in asked[: self._most_probes]:
            sql = build_probe(use, text, query.dialect)
            unknown += await self._is_missing(question.database, sql, question.principal)
        return (("values_unknown", unknown / len(texts)),) if unknown else ()

    async def _is_missing(self, database: str, sql: str, principal: Principal) -> bool:
        verdict = await self._guard.guard(database, sql, principal)
        if not isinstance(verdict, GuardedQuery):
            return False
        found = await self._executor.execute(verdict, 1, _LIMITS)
        return isinstance(found, ResultSet) and not found.rows


def list_texts(query: Query) -> Iterator[tuple[ColumnUse, str]]:
    """The texts that a known column must equal, by ``=`` or IN.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> table = Table("s", "t", (Column("a", "text"), Column("n", "int")))
    >>> sql = "SELECT 1 FROM t WHERE a = 'x' AND n = 'y' AND a <> 'z'"
    >>> query = read_query(sql, "sqlite", [table])
    >>> [(use.name, text) for use, text in list_texts(query)]
    [('s.t.a', 'x')]
    """
    for node in query.find_all(exp.EQ, exp.In):
        if isinstance(node.parent, exp.Not):
            continue
        others = node.expressions if isinstance(node, exp.In) else [node.args["expression"]]
        use = query.resolve(node.this)
        if use is None or query.kind_of(use) not in TEXTS:
            continue
        for other in others:
            if isinstance(other, exp.Literal) and other.is_string:
                yield use, other.this


def build_probe(use: ColumnUse, text: str, dialect: str) -> str:
    """A query that returns a row if the column contains the text.

    >>> from nl2sql.catalog import Column, Table
    >>> table = Table("s", "t", (Column("Last Name", "text"),))
    >>> print(build_probe(ColumnUse("t", table, table.columns[0]), "O'Hara", "postgres"))
    SELECT 1 FROM "s"."t" WHERE "Last Name" = 'O''Hara' LIMIT 1
    """
    literal = exp.Literal.string(text).sql(dialect)
    table = f"{enquote(use.table.schema)}.{enquote(use.table.name)}"
    return f"SELECT 1 FROM {table} WHERE {enquote(use.column.name)} = {literal} LIMIT 1"
