"""What the client can do besides asking, with the whole service."""

from __future__ import annotations

import inspect

import httpx
import pytest

from quorumsql.async_client import AsyncClient
from quorumsql.contract import AnsweredResponse
from quorumsql.contract.feedback import TrialRequest
from quorumsql.errors import Forbidden, InvalidRequest
from tests.serve_app.http.conftest import opened, service
from tests.serve_app.interfaces import build_token
from tests.serve_app.page_service import PageService

__all__ = ["opened", "service"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNT = "SELECT count(*) FROM employees"
NAMES = {"database": "a/b", "name": "crm.orders", "id_": "a/b", "fix": TrialRequest()}
METHODS = (
    "tables table definitions suggestions conversation delete_conversation "
    "withdraw_feedback finish_review exam try_fix"
).split()


def connect(service: PageService, name: str) -> AsyncClient:
    transport = httpx.ASGITransport(service.app)
    return AsyncClient("http://localhost", build_token(name), transport=transport)


async def test_data(service: PageService) -> None:
    async with connect(service, "mia") as client:
        person = await client.me()
        assert (person.name, person.rights.review) == ("mia", False)
        assert [one.name for one in await client.databases()] == person.databases
        page = await client.tables("demo_erp", "employee", limit=1)
        (entry,) = page
        assert page.next is not None
        assert (await client.tables("demo_erp", "employee", after=page.next)).total == page.total
        assert all(each.name for each in await client.table("demo_erp", entry.table))
        names = [each.name for each in await client.definitions("demo_erp")]
        assert "headcount" in names
        assert "open tickets" in names
        assert await client.suggestions("demo_erp")
        with pytest.raises(InvalidRequest, match="invented"):
            await client.table("demo_erp", "invented")


async def test_queries(service: PageService) -> None:
    async with connect(service, "mia") as client:
        result = await client.run(COUNT, max_rows=5)
        assert (result.database, len(result)) == ("demo_erp", 1)
        assert list(result) == result.rows


async def test_history(service: PageService) -> None:
    async with connect(service, "mia") as client:
        for session in ("a", "b"):
            await client.ask(COUNT, session=session, k=1)
        assert [one.id for one in await client.conversations()] == ["b", "a"]
        (turn,) = await client.conversation("a")
        assert turn.sql == COUNT
        assert (await client.delete_conversation("a")).conversations == 1
        assert (await client.delete_conversations()).conversations == 1
        with pytest.raises(InvalidRequest):
            await client.conversation("a")


async def test_ratings(service: PageService) -> None:
    async with connect(service, "mia") as client:
        answer = await client.ask(COUNT, k=1)
        assert isinstance(answer, AnsweredResponse)
        rated = await client.rate(answer, "wrong")
        assert rated.outcome == "recorded"
        await client.withdraw_feedback(rated.id)
        with pytest.raises(InvalidRequest):
            await client.withdraw_feedback(rated.id)
        # Without a query, too.
        failed = await client.ask("SELECT x FROM invented", k=1)
        assert failed.outcome == "failed"
        assert (await client.rate(failed, "wrong")).outcome == "recorded"


async def test_parameters(service: PageService) -> None:
    async with connect(service, "ada") as client:
        answer = await client.ask(f"{COUNT} WHERE id > 7", k=1)
        assert isinstance(answer, AnsweredResponse)
        (offered,) = (await client.rate(answer, "right")).parameters
        (marked,) = (await client.rate(answer, "right", parameters=[offered.name])).parameters
        assert (offered.chosen, marked.chosen) == (False, True)


async def test_review(service: PageService) -> None:
    async with connect(service, "ada") as client:
        answer = await client.ask(COUNT, k=1)
        assert isinstance(answer, AnsweredResponse)
        await client.rate(answer, "wrong")
        (entry,) = await client.review(database="demo_erp")
        assert list(await client.exam(entry.id)) == []
        tried = await client.try_fix(entry.id, TrialRequest(sql=f"{COUNT} WHERE true"))
        assert (tried.question, tried.verdict) == (COUNT, "right")
        await client.finish_review(entry.id)
        assert (await client.review()).entries == []
        assert (await client.review(state="done")).entries[0].reviewed_by == "ada"
    async with connect(service, "mia") as client:
        with pytest.raises(Forbidden):
            await client.review()


@pytest.mark.parametrize("method", METHODS)
async def test_names_stay_inside_their_part_of_the_path(method: str) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(403, json={"title": "T", "status": 403, "detail": "No."})

    async with AsyncClient("http://h", transport=httpx.MockTransport(answer)) as client:
        call = getattr(client, method)
        with pytest.raises(Forbidden):
            await call(
                *[NAMES[name] for name in inspect.signature(call).parameters if name in NAMES]
            )
    assert "a%2Fb" in seen[0]
