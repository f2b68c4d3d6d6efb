"""Answers over files are kept while the file stays: the guard, the executor and real rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from execution.duckdb.revision import SETTLED_S
from nl2sql.answers import Answer, Answered, Trace
from nl2sql.catalog import Catalog
from nl2sql.settings import parse_settings
from nl2sql.types import GuardedQuery, Principal, Question, Ranking, ResultSet
from serve_app.composition.stages import GuardedExecutor
from serve_app.composition.wiring import Wiring
from serve_app.service.answer_cache import AnswerCache
from tests.execution.sqlite import shop as sqlite_shop
from tests.fakes import FakeCatalogs, build_assessment, build_question, build_table
from tests.serve_app.service.test_answer_cache import FakeRevisions

COUNT = "SELECT count(*) FROM customers"
POLICY = """
version: 1
roles:
  clerk:
    tables: { visible: "*" }
    rows: all
"""
LESS = POLICY.replace("rows: all", 'row_filters: { main.customers: "id > 1" }')
CREATE = "CREATE TABLE customers (id INTEGER); INSERT INTO customers VALUES (1), (2), (3)"


@dataclass
class Shop:
    """A file, and a cache over it."""

    dialect: str
    path: Path
    write: Callable[[Path, str], None]
    policy: Path

    def open(self) -> GuardedExecutor:
        """The stage of a process that has just started."""
        database = {"reader": {"url": f"{self.dialect}:///{self.path}"}, "policy": str(self.policy)}
        settings = parse_settings({"databases": {"shop": database}})
        table = build_table("main.customers", "id INTEGER")
        catalog = Catalog("shop", (table,), search_path=("main",), dialect=self.dialect)
        return GuardedExecutor(Wiring(settings), FakeCatalogs(catalog))


@pytest.fixture(params=["sqlite", pytest.param("duckdb", marks=pytest.mark.long)])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    path, policy = tmp_path / "shop.file", tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    write = sqlite_shop.write if request.param == "sqlite" else write_duckdb
    write(path, CREATE)
    return Shop(request.param, path, write, policy)


def write_duckdb(path: Path, script: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(script)


class Asking:
    """Asks through a cache; ``answered`` counts the answers that were worked out."""

    def __init__(self, executor: GuardedExecutor) -> None:
        self.executor = executor
        self.cache = AnswerCache(1 << 20, FakeRevisions(), executor)
        self.answered = 0

    async def work(self, question: Question) -> Answer:
        self.answered += 1
        query = await self.executor.guard("shop", question.text, question.principal)
        assert isinstance(query, GuardedQuery), query
        result = await self.executor.execute(query, 10)
        assert isinstance(result, ResultSet), result
        ranking = Ranking((build_assessment(verdict=query, result=result),))
        return Answered(query.sql, result, 1.0, True, Trace(question, ranking=ranking))

    async def ask(self, sql: str = COUNT) -> object:
        question = build_question(text=sql, principal=Principal("ann", ("clerk",)))
        answer = await self.cache.find(question) or await self.cache.answer(question, self.work)
        assert isinstance(answer, Answered)
        return answer.result.rows[0][0]


async def settle(shop: Shop) -> None:
    await asyncio.sleep(SETTLED_S + 0.5 if shop.dialect == "duckdb" else 0)


async def test_a_commit_ends_an_answer(shop: Shop) -> None:
    asking = Asking(shop.open())
    await settle(shop)
    assert [await asking.ask(), await asking.ask()] == [3, 3]
    assert asking.answered == 1
    await asking.executor.close()
    shop.write(shop.path, "DELETE FROM customers WHERE id = 1")
    assert await asking.ask() == 2
    await settle(shop)
    await asking.ask()
    answered = asking.answered
    assert await asking.ask() == 2
    assert asking.answered == answered
    await asking.executor.close()


async def test_another_policy_has_another_revision(shop: Shop) -> None:
    await settle(shop)
    revisions = []
    for text in (POLICY, POLICY, LESS):
        shop.policy.write_text(text)
        executor = shop.open()
        # That of the data alone belongs to one process.
        revisions.append(await executor.sql_guard.revision("shop"))
        assert (await executor.revision("shop")).startswith(revisions[-1])
        await executor.close()
    assert revisions[0] == revisions[1] != revisions[2]


async def test_what_reads_the_clock_is_answered_anew(shop: Shop) -> None:
    asking = Asking(shop.open())
    await settle(shop)
    for _ in range(2):
        await asking.ask("SELECT count(*), CURRENT_DATE FROM customers")
    assert asking.answered == 2
    await asking.executor.close()
