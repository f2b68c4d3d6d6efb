"""The guard's verdict on one query over the schema of the tests."""

from __future__ import annotations

from dataclasses import replace

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP

_ACCESS = {
    dialect: open_access(replace(SHOP, dialect=dialect))
    for dialect in ("postgres", "sqlite", "duckdb")
}


def judge(sql: str, dialect: str = "postgres") -> str:
    """The violation's code; empty for a query that passes."""
    verdict = guard_query(sql, _ACCESS[dialect])
    return verdict.code if isinstance(verdict, Violation) else ""


def pass_guard(sql: str, dialect: str = "postgres") -> GuardedQuery:
    """What the guard makes of a query, which must pass."""
    return expect(GuardedQuery, guard_query(sql, _ACCESS[dialect]))
