"""The oracle through the interfaces: rows over MCP and ``/v1`` are those of the principal's copy.

Over MCP a query is run as it is; in a chat it is all that the model writes, and what the reply says
was run is judged. The judge and the copies are those of the other tests of this folder.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
import yaml

from data.demo_erp import MODULES
from execution.postgres.embedded import EmbeddedServer
from nl2sql.settings import parse_settings
from nl2sql.types import GuardedQuery, Principal, Violation
from serve_app.composition.wiring import Wiring
from tests.attacks.injections.injection import EMPLOYEES, Injection
from tests.attacks.injections.obeying_engine import ObeyingEngine
from tests.fakes import FakeEmbedder
from tests.oracle.demo import DATABASE, PRINCIPALS
from tests.oracle.outcomes import Outcome, describe_difference
from tests.oracle.runs import judge_queries, list_queries
from tests.oracle.stage import HASH_KEY, PostgresStage, build_guarding, build_rereading
from tests.oracle.tally import Tally
from tests.oracle.verdicts import Copy, Judge, Kind, Session, Verdict
from tests.serve_app.interfaces import (
    Interfaces,
    Reply,
    call_tool,
    describe_principal,
    open_interfaces,
    sign_in,
    spell_cell,
)

# Pairs of a query and a principal, for each interface.
_FEW_EACH, _MANY_EACH = 50, 150
_FEW = PRINCIPALS[:4:2]
_MOST_ROWS = 1000

Asking = Callable[[str], Reply]


class SpelledCopy:
    """A copy whose cells are spelled as replies are read."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        return spell_outcome(self._copy.run(statement, params))

    def run_otherwise(self, statement: str, params: Sequence[object] = ()) -> Iterator[Outcome]:
        return map(spell_outcome, self._copy.run_otherwise(statement, params))


def spell_outcome(outcome: Outcome) -> Outcome:
    rows = tuple(tuple(map(spell_cell, row)) for row in outcome.rows)
    return Outcome(
        outcome.columns, rows, outcome.sqlstate, outcome.message, complete=outcome.complete
    )


class AskingJudge(Judge):
    """Judges what an interface replies; ``guard`` is only read where a reply differs."""

    def __init__(self, ask: Asking, stage: PostgresStage, principal: Principal) -> None:
        subject = stage.subjects[0]
        stage.judge(principal, subject)  # sets the search path
        parts = (subject.policy, subject.catalog, principal)
        self._real_guard = build_guarding(*parts)
        self._ask = ask
        self._plain: Session = stage.full
        self._own = SpelledCopy(stage.copy(principal))
        self._reply = Reply("", "")
        super().__init__(self._pass_on, self, self._own, reread=build_rereading(*parts), tell=False)

    def judge(self, statement: str) -> Verdict:
        """The verdict on the query that the reply shows, or on this one if it shows none."""
        self._reply = self._ask(statement)
        shown = self._reply.sql or statement
        self._expected = self._own.run(shown)
        verdict = super().judge(shown)
        if verdict.kind is not Kind.EQUAL:
            return verdict
        plain = spell_outcome(self._plain.run(shown))
        return Verdict(verdict.kind, telling=bool(describe_difference(plain, self._expected)))

    def _pass_on(self, statement: str) -> GuardedQuery | Violation:
        if not self._reply.answered:
            return Violation("refused", "", self._reply.text[:500])
        guarded = self._real_guard(statement)
        # An answer to what the guard refuses is judged as it is.
        return GuardedQuery(DATABASE, statement, ()) if isinstance(guarded, Violation) else guarded

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """The reply; where it is a page of the copy's rows, and says so, these rows."""
        reply, expected = self._reply, self._expected
        columns = reply.columns or expected.columns
        is_part = not reply.is_whole and columns == expected.columns[: len(columns)]
        if is_part and reply.shows(expected.rows):
            return expected
        return Outcome(columns, reply.rows, complete=reply.is_whole)


@pytest.fixture(scope="module")
def asking(
    embedded_server: EmbeddedServer, stage: PostgresStage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, str], Asking]]:
    """How a principal asks over an interface: by the names of both."""
    home = tmp_path_factory.mktemp("oracle")
    policy = home / "policy.yaml"
    policy.write_text(yaml.safe_dump(dict(stage.subjects[0].policy)), encoding="utf-8")
    connection = {"url": f"embedded:{stage.full.database}"}
    settings = parse_settings(
        {
            "home": str(home),
            "databases": {
                DATABASE: {
                    "reader": connection,
                    "indexer": connection,
                    "schemas": list(MODULES),
                    "policy": str(policy),
                    "values": {"enabled": False},
                }
            },
            "index": {"infer_keys": False},
            "flags": {"intent_gate": False},
            "ranking": {"min_confidence": 0.0},
            "limits": {
                "pool_size": 2,
                "rows": _MOST_ROWS,
                "statement_timeout_ms": 3000,
                "cell_bytes": 2**24,
            },
        }
    )
    described = {who.name: describe_principal(who) for who in PRINCIPALS}
    model = ObeyingEngine()
    with asyncio.Runner() as runner, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORACLE_HASH_KEY", HASH_KEY)
        wiring = Wiring(sign_in(settings, described, patch), embedded_server.socket_folder)
        stack = AsyncExitStack()
        opening = open_interfaces(wiring, model, embedder=FakeEmbedder(settings.index.embedder))
        interfaces = runner.run(stack.enter_async_context(opening))

        def find(way: str, name: str) -> Asking:
            def ask(statement: str) -> Reply:
                model.obey(Injection("oracle", "question", EMPLOYEES, statement))
                return runner.run(WAYS[way](interfaces, name, statement))

            return ask

        yield find
        runner.run(stack.aclose())


async def run_sql(interfaces: Interfaces, name: str, sql: str) -> Reply:
    async with interfaces.connect_mcp(name) as client:
        return await call_tool(client, "run_sql", sql=sql, max_rows=_MOST_ROWS)


async def chat(interfaces: Interfaces, name: str, sql: str) -> Reply:
    return await interfaces.chat(name, EMPLOYEES, stream=bool(len(sql) % 2))


WAYS: dict[str, Callable[[Interfaces, str, str], Coroutine[Any, Any, Reply]]] = {
    "run_sql": run_sql,
    "chat": chat,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("principals", "most"),
    [
        pytest.param(_FEW, _FEW_EACH, marks=pytest.mark.quick, id="few"),
        pytest.param(PRINCIPALS, _MANY_EACH, id="all"),
    ],
)
def test_the_rows_are_those_of_the_principals_copy(
    stage: PostgresStage,
    asking: Callable[[str, str], Asking],
    principals: Sequence[Principal],
    most: int,
    way: str,
) -> None:
    subject, rng, tally = stage.subjects[0], random.Random(11), Tally()
    queries = list_queries(subject.catalog, subject.golds)
    for principal in principals:
        judge = AskingJudge(asking(way, principal.name), stage, principal)
        judge_queries(judge, principal, rng.sample(queries, most), tally)
    assert not tally.mismatches, tally.render()
    assert tally.refused_share <= 0.05, tally.render()
    assert tally.unsettled_share <= 0.05, tally.render()
    assert tally.telling >= len(principals) * most / 10, tally.render()
