"""Asks the database whether the texts that a query looks for are stored where it looks.

What retrieval found among the cell values needs no asking. The rest is asked by a query of its own,
guarded for the same principal as the candidate: a value that policies hide counts as not there, so
that nothing is told which the candidate itself would not tell. Only equality with a text column
whose table is known is asked about; what fails or takes too long is not held against a candidate.
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
from ranking.score.question_terms import Measure

# An index answers in a few milliseconds; what takes longer is a scan that is not worth its time.
_LIMITS = ExecutionLimits(timeout_ms=500, result_bytes=1024)


class ValueVerifier:
    """Measures the share of a candidate's texts that no row holds."""

    def __init__(self, guard: Guard, executor: Executor, *, most_probes: int) -> None:
        """``most_probes``: texts asked about for one candidate; the rest is not looked at."""
        self._guard = guard
        self._executor = executor
        self._most_probes = most_probes

    async def measure(
        self, question: Question, query: Query, values: Sequence[ValueMatch]
    ) -> tuple[Measure, ...]:
        """``values_unknown`` and the share, or nothing. Raises Unavailable."""
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
    """The texts that a column must equal, by ``=`` or IN, as far as the column is known.

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
    """A query with a row if the column holds the text.

    >>> from nl2sql.catalog import Column, Table
    >>> table = Table("s", "t", (Column("Last Name", "text"),))
    >>> print(build_probe(ColumnUse("t", table, table.columns[0]), "O'Hara", "postgres"))
    SELECT 1 FROM "s"."t" WHERE "Last Name" = 'O''Hara' LIMIT 1
    """
    literal = exp.Literal.string(text).sql(dialect)
    table = f"{enquote(use.table.schema)}.{enquote(use.table.name)}"
    return f"SELECT 1 FROM {table} WHERE {enquote(use.column.name)} = {literal} LIMIT 1"
