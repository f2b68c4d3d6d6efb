"""Lint and notes on a real database: the demo's golds, and a principal's rows."""

from __future__ import annotations

import json

from data.demo_erp import EXAMPLES, POLICY, QUESTIONS
from execution.executor import ReadOnlyExecutor
from execution.guard.guard import SqlGuard
from nl2sql.catalog import Catalog
from nl2sql.types import GuardedQuery, Principal, Question, ResultSet
from ranking.empty_result import explain_nothing
from ranking.lint import lint_query
from ranking.query import Query, read_query
from serve_app.composition.wiring import Wiring
from tests.fakes import FakeCatalogs

SQL = "SELECT count(*) FROM employees WHERE last_name = '{}'"
BOSS = Principal("boss", ("analyst",))
MIA = Principal("mia", ("department_member",), (("department_id", 31),))


def read(sql: str, catalog: Catalog) -> Query:
    query = read_query(sql, "postgres", catalog.tables, catalog.foreign_keys)
    assert query is not None
    return query


def test_no_rule_hits_a_gold_of_the_demo(wiring: Wiring) -> None:
    catalog = wiring.source("demo_erp").read_catalog()
    lines = [*QUESTIONS.read_text("utf-8").splitlines(), *EXAMPLES.read_text("utf-8").splitlines()]
    golds = [case.get("query") or case["sql"] for case in map(json.loads, lines)]
    assert {sql: lint_query(read(sql, catalog)) for sql in golds} == dict.fromkeys(golds, ())


async def test_a_text_is_known_to_whom_may_see_it(wiring: Wiring) -> None:
    settings = wiring.settings
    database = settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    databases = {**settings.databases, "demo_erp": database}
    guarded = Wiring(settings.model_copy(update={"databases": databases}), wiring.socket_folder)
    catalog = guarded.source("demo_erp").read_catalog()
    guard = guarded.build_guard(FakeCatalogs(catalog))
    executor = ReadOnlyExecutor(guarded.build_databases())

    async def is_unknown(text: str, principal: Principal) -> bool:
        question = Question("Who?", "demo_erp", principal, 1, 0, 5)
        query = read(SQL.format(text), catalog)
        return any(text in note for note in await explain_nothing(guard, executor, question, query))

    try:
        names = await list_names(guard, executor, BOSS)
        own = await list_names(guard, executor, MIA)
        stranger = min(names - own)
        assert not await is_unknown(stranger, BOSS)
        assert await is_unknown(stranger, MIA)
        assert not await is_unknown(min(own), MIA)
        assert await is_unknown("Nobody of this name", BOSS)
    finally:
        await executor.close()


async def list_names(guard: SqlGuard, executor: ReadOnlyExecutor, principal: Principal) -> set[str]:
    """The last names of the employees that the principal may see."""
    verdict = await guard.guard("demo_erp", "SELECT DISTINCT last_name FROM employees", principal)
    assert isinstance(verdict, GuardedQuery)
    result = await executor.execute(verdict, 10_000)
    assert isinstance(result, ResultSet)
    return {str(row[0]) for row in result.rows}
