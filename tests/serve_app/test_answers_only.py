"""Who sees answers only gets no SQL, no candidates and no trace, by no interface.

Each test looks for them in the whole of what was received, headers and events too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from evaluation.runs.variants import override
from execution.guard.guard import SqlGuard
from nl2sql.errors import IndexUnavailable
from nl2sql.settings import Settings
from nl2sql.types import FeedbackReceipt, Principal, Rewriting
from retrieval.schema_directory import SchemaDirectory
from serve_app.service.references import References
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeGenerator,
    FakeGuard,
    FakeRepairer,
    FakeSessions,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
    build_violation,
)
from tests.serve_app.http.test_event_stream import read_events
from tests.serve_app.http.test_feedback import FakeTaker
from tests.serve_app.interfaces import build_token, sign_in
from tests.serve_app.mcp.clients import MODES, call, connect_http, fail
from tests.serve_app.mcp.test_clarification import User
from tests.serve_app.served import build_app, connect

QUESTION = "Who has id 1?"
FIRST, SECOND = "SELECT name FROM customers WHERE id = 1", "SELECT name FROM customers"
BROKEN = "SELECT nonsense FROM customers"
# Queries and parts of them, ids and keys of candidates, and what a trace holds.
LEAKS = re.compile(
    r"SELECT|WHERE|FROM|from customers|nonsense|id = 1|\"candidates?\"|\"id\":\s*\"c[12]\"|guarded"
    r"|\"(?:prompt|trace|attempts|predicates)\":\s*[{\[\"](?!\])"
)
PRINCIPALS = {"cleo": {"roles": ["clerk"]}, "max": {"roles": ["clerk"]}, "ann": {"roles": ["boss"]}}


class KeptQueries:
    """References in memory; ``fails`` as the index does."""

    def __init__(self) -> None:
        self.fails = False
        self.kept: dict[str, tuple[str, str, str]] = {}

    async def add(
        self, owner: str, session: str, queries: Sequence[tuple[str, str]], *, keep_hours: int
    ) -> tuple[str, ...]:
        if self.fails:
            raise IndexUnavailable("gone")
        ids = []
        for database, sql in queries:
            ids.append(f"ref_{len(self.kept)}")
            self.kept[ids[-1]] = (owner, database, sql)
        return tuple(ids)

    async def find(self, id_: str, owner: str, *, keep_hours: int) -> tuple[str, str] | None:
        found = self.kept.get(id_)
        return found[1:] if found and found[0] == owner else None


class Parts:
    """The service, and what it keeps and is told."""

    def __init__(self, patch: pytest.MonkeyPatch, *, min_confidence: float = 0.0) -> None:
        page = {"answers_only_roles": ["clerk"]}
        settings: Settings = sign_in(build_settings(page=page), PRINCIPALS, patch)
        self.settings = override(settings, [f"ranking.min_confidence={min_confidence}"])
        self.kept = KeptQueries()
        self.taker = FakeTaker(
            FeedbackReceipt("recorded"), FeedbackReceipt("refused", reason=f"{FIRST} fails")
        )
        self.sessions = FakeSessions()
        generated = build_generated(
            build_candidate(FIRST), build_candidate(SECOND, id="c2"), samples=2
        )
        broken = build_generated(build_candidate(BROKEN), samples=1)
        self.generator = FakeGenerator(
            *([broken] * 6 if min_confidence > 1 else [generated] * 6),
            rewritings={"And again?": Rewriting(FIRST, "model")},
        )
        self.references = References(self.settings, self.kept)  # type: ignore[arg-type]
        self.app: ASGIApp = build_app(
            self.settings,
            generator=self.generator,
            guard=FakeGuard({BROKEN: build_violation("unknown_column")}),
            results={
                FIRST: [build_result(("a",))] * 12,
                SECOND: [build_result(("a",), ("b",))] * 12,
            },
            repairer=FakeRepairer(*[""] * 12),
            taker=self.taker,
            sessions=self.sessions,
            schemas=SchemaDirectory(SqlGuard(FakeCatalogs(SHOP))),
            references=self.references,
        )

    async def send(
        self,
        path: str,
        body: Any = None,
        *,
        name: str = "cleo",
        method: str = "POST",
        **headers: str,
    ) -> httpx.Response:
        token = {"Authorization": f"Bearer {build_token(name)}"}
        async with connect(self.app) as client:
            return await client.request(method, path, json=body, headers={**token, **headers})


@pytest.fixture
def sure(monkeypatch: pytest.MonkeyPatch) -> Parts:
    return Parts(monkeypatch)


@pytest.fixture
def unsure(monkeypatch: pytest.MonkeyPatch) -> Parts:
    return Parts(monkeypatch, min_confidence=0.9)


def check(response: httpx.Response, *, status: int = 200) -> Any:
    """The body of a response in which nothing is told that must not be."""
    assert response.status_code == status, response.text
    assert not LEAKS.findall(response.text), response.text
    shown = {name: text for name, text in response.headers.items() if "sql" in name}
    assert not LEAKS.findall(str(shown)), shown
    return response.json() if "json" in response.headers["content-type"] else response.text


async def test_others_see_all_of_it(sure: Parts) -> None:
    body = {"question": QUESTION, "trace": True}
    response = await sure.send("/query", body, name="ann")
    assert response.json()["sql"] == FIRST
    assert response.json()["trace"]["candidates"]
    assert response.json()["reference"] == ""
    assert (await sure.send("/translate", body, name="ann")).json()["sql"] == FIRST
    assert sure.kept.kept == {}


async def test_query(sure: Parts) -> None:
    answer = check(await sure.send("/query", {"question": QUESTION, "trace": True}))
    assert (answer["rows"], answer["sql"], answer["trace"]) == ([["a"]], "", None)
    assert answer["columns"]
    assert answer["confidence"] > 0
    assert sure.kept.kept[answer["reference"]][1:] == ("shop", FIRST)
    assert answer["notes"] == []
    assert answer["description"] == "shows name; of customers; where id is 1."


async def test_events_and_who_follows_them(sure: Parts) -> None:
    body = {"question": QUESTION, "trace": True}
    response = await sure.send("/query", body, accept="text/event-stream")
    check(response)
    kinds = [kind for kind, _ in read_events(response.text)]
    assert kinds[-1] == "answer"
    assert {*kinds} == {"stage", "rows", "answer"}
    name = response.headers["quorumsql-query-id"]
    again = await sure.send(f"/queries/{name}/events", method="GET")
    assert check(again) == response.text


async def test_a_watcher_of_others_sees_stages_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(monkeypatch)
    settings = override(parts.settings, ["serve.watch_roles=[clerk, boss]"])
    app = build_app(
        settings,
        generator=FakeGenerator(build_generated(build_candidate(FIRST))),
        results={FIRST: [build_result(("a",))] * 4},
    )
    parts.app = app
    asked = await parts.send("/query", {"question": QUESTION}, name="ann")
    path = f"/queries/{asked.headers['quorumsql-query-id']}/events"
    seen = await parts.send(path, name="cleo", method="GET")
    assert {*re.findall(r"^event: (\w+)$", check(seen), re.MULTILINE)} == {"stage"}
    own = await parts.send(path, name="ann", method="GET")
    assert FIRST in own.text


@pytest.mark.parametrize("media_type", ["text/csv", "text/markdown", "application/x-ndjson"])
async def test_exports(sure: Parts, media_type: str) -> None:
    response = await sure.send("/query", {"question": QUESTION}, accept=media_type)
    check(response)
    assert response.headers["quorumsql-reference"] in sure.kept.kept


async def test_exports_with_metadata(sure: Parts) -> None:
    for media_type in (
        "application/vnd.apache.parquet",
        "application/vnd.apache.arrow.stream",
    ):
        response = await sure.send("/query", {"question": QUESTION}, accept=media_type)
        assert response.status_code == 200
        assert b"SELECT" not in response.content
        assert b"customers" not in response.content


async def test_there_is_no_translation(sure: Parts) -> None:
    check(await sure.send("/translate", {"question": QUESTION, "trace": True}), status=403)
    assert sure.generator.questions == []


async def test_clarify_and_pick(unsure: Parts) -> None:
    answer = check(await unsure.send("/query", {"question": QUESTION, "trace": True}))
    first, second = answer["interpretations"]
    assert (first["sql"], second["sql"]) == ("", "")
    assert second["description"] == "shows name; of customers."
    assert (first["rows"], second["rows"]) == ([["a"]], [["a"], ["b"]])
    body = {"question": QUESTION, "picked": second["reference"]}
    picked = check(await unsure.send("/query", body))
    assert picked["rows"] == [["a"], ["b"]]
    assert picked["reference"] in unsure.kept.kept
    for name, reference in (("max", second["reference"]), ("cleo", "ref_none")):
        body = {"question": QUESTION, "picked": reference}
        refused = check(await unsure.send("/query", body, name=name), status=404)
        assert refused["errors"][0]["field"] == "picked"


async def test_failures_quote_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(monkeypatch, min_confidence=1.0)
    parts.generator._queue = FakeGenerator(
        *[build_generated(build_candidate(BROKEN), samples=1)] * 4
    )._queue
    answer = check(await parts.send("/query", {"question": QUESTION, "trace": True}))
    assert (answer["outcome"], answer["attempts"]) == ("failed", [])
    picked = check(await parts.send("/query", {"question": QUESTION, "picked": BROKEN}))
    assert picked["outcome"] in ("refused", "failed")
    exported = await parts.send("/query", {"question": QUESTION}, accept="text/csv")
    check(exported, status=422)


async def test_a_question_that_was_completed_with_sql(sure: Parts) -> None:
    await sure.send("/query", {"question": QUESTION, "session": "s"})
    answer = check(await sure.send("/query", {"question": "And again?", "session": "s"}))
    assert (answer["question"], answer["rewritten"]) == ("And again?", None)


async def test_feedback_by_reference(sure: Parts) -> None:
    answer = check(await sure.send("/query", {"question": QUESTION}))
    body = {"question": QUESTION, "verdict": "right", "reference": answer["reference"]}
    check(await sure.send("/feedback", body), status=202)
    (given,) = sure.taker.taken
    assert (given.sql, given.database, given.is_right) == (FIRST, "shop", True)
    check(await sure.send("/feedback", body, name="max"), status=404)
    both = await sure.send("/feedback", {**body, "database": "shop"})
    assert check(both, status=422)["errors"][0]["field"] == "reference"
    check(await sure.send("/feedback", body), status=422)


@pytest.mark.parametrize("unsure_of_it", [False, True])
async def test_what_could_not_be_kept_is_said(
    monkeypatch: pytest.MonkeyPatch, unsure_of_it: bool
) -> None:
    parts = Parts(monkeypatch, min_confidence=0.9 if unsure_of_it else 0.0)
    parts.kept.fails = True
    answer = check(await parts.send("/query", {"question": QUESTION}))
    (note,) = answer["notes"]
    assert ("none can be chosen" if unsure_of_it else "cannot be rated, shared") in note
    assert answer.get("reference", "") == ""


def ask_chat(*messages: tuple[str, str], **more: Any) -> dict[str, Any]:
    said = [{"role": role, "content": content} for role, content in messages]
    return {"model": "shop", "messages": said, **more}


async def test_chat_completions(sure: Parts) -> None:
    body = ask_chat(("user", QUESTION))
    answer = check(await sure.send("/v1/chat/completions", body))
    content = answer["choices"][0]["message"]["content"]
    assert "| a |" in content
    assert "Reference: `ref_0`" in content
    stream = check(await sure.send("/v1/chat/completions", {**body, "stream": True}))
    assert "Reference" in stream


async def test_a_chat_goes_on_by_reference(unsure: Parts) -> None:
    answer = check(await unsure.send("/v1/chat/completions", ask_chat(("user", QUESTION))))
    content = answer["choices"][0]["message"]["content"]
    follow = ask_chat(("user", QUESTION), ("assistant", content), ("user", "2"))
    check(await unsure.send("/v1/chat/completions", follow))
    (turn,) = unsure.generator.recalled[-1]
    assert turn.interpretations == (FIRST, SECOND)
    check(await unsure.send("/v1/chat/completions", follow, name="max"))
    assert len(unsure.generator.recalled) == 1


@pytest.mark.parametrize("mode", MODES)
async def test_mcp(sure: Parts, mode: Any) -> None:
    async with connect_http(sure.app, token=build_token("cleo"), mode=mode) as client:
        document = await call(client, "ask", question=QUESTION)
        assert not LEAKS.findall(json.dumps(document))
        assert (document["rows"], document["reference"]) == ([["a"]], "ref_0")
        for tool, arguments in (
            ("translate", {"question": QUESTION}),
            ("run_sql", {"sql": BROKEN}),
        ):
            assert not LEAKS.findall(await fail(client, tool, **arguments))
        for tool, arguments in (
            ("search_schema", {"text": "customers"}),
            ("describe_tables", {"tables": "customers"}),
            ("run_sql", {"sql": FIRST}),
        ):
            names = [arguments["tables"]] if "tables" in arguments else None
            sent = {"tables": names} if names else arguments
            document = await call(client, tool, **sent)
            assert not LEAKS.findall(json.dumps(document)), document


async def test_mcp_asks_the_user_by_reference(unsure: Parts) -> None:
    user = User(number=2)
    token = build_token("cleo")
    async with connect_http(unsure.app, token=token, elicitation=user) as client:
        document = await call(client, "ask", question=QUESTION)
    assert document["rows"] == [["a"], ["b"]]
    assert not LEAKS.findall(json.dumps(document))
    (form,) = user.forms
    assert not LEAKS.findall(form.model_dump_json())
    async with connect_http(unsure.app, token=token) as client:
        document = await call(client, "ask", question=QUESTION)
        assert not LEAKS.findall(json.dumps(document).replace("same question", ""))
        picked = document["interpretations"][0]["reference"]
        document = await call(client, "ask", question=QUESTION, picked=picked)
    assert document["rows"] == [["a"]]


def test_a_principal_is_restricted_only_where_roles_count(monkeypatch: pytest.MonkeyPatch) -> None:
    references = Parts(monkeypatch).references
    assert references.withholds(Principal("cleo", ("clerk",)))
    assert not references.withholds(Principal("ann", ("boss",)))
    free = References(build_settings(page={"answers_only_roles": ["clerk"]}))
    assert not free.withholds(Principal("cleo", ("clerk",)))
