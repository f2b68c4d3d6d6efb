"""Conversations over HTTP, in the real index: each principal's own, and no rows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve_app.page_service import PageService

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNT = "SELECT count(*) FROM employees"
SECRET = "Zacharias"
NAMED = f"SELECT count(*) FROM employees WHERE last_name = '{SECRET}'"


async def list_all(service: PageService, name: str, **parameters: Any) -> list[dict[str, Any]]:
    return await service.list_all(name, "/conversations", "conversations", **parameters)


async def list_ids(service: PageService, name: str, **parameters: Any) -> list[str]:
    return [each["id"] for each in await list_all(service, name, **parameters)]


async def test_a_conversation_holds_questions_queries_and_outcomes(service: PageService) -> None:
    await service.ask("mia", NAMED, session="s")
    await service.ask("mia", "SELECT net_amt FROM payslips", session="s")
    await service.ask("mia", "Alone")
    (entry,) = await list_all(service, "mia")
    assert (entry["id"], entry["title"], entry["database"]) == ("s", NAMED, "demo_erp")
    assert entry["questions"] == 2
    shown = await service.get("mia", "/conversations/s")
    first, second = shown.pop("turns")
    assert shown == entry
    assert (first["question"], first["sql"], first["outcome"]) == (NAMED, NAMED, "answered")
    assert second["question"] == "SELECT net_amt FROM payslips"
    assert second["outcome"] != "answered"
    assert (second["sql"], first["rewritten"]) == ("", None)
    assert first["asked_at"] < second["asked_at"] == entry["asked_at"]


async def test_conversations_are_found_by_their_questions(service: PageService) -> None:
    await service.ask("mia", COUNT, session="a")
    await service.ask("mia", "100% of_it \\ 'x'", session="a")
    await service.ask("mia", f"{COUNT} WHERE 1 = 1", session="b")
    await service.ask("mia", NAMED, session="b")
    assert await list_ids(service, "mia") == ["b", "a"]
    for search, expected in (
        ("zacharias", ["b"]),
        ("COUNT(*)", ["b", "a"]),
        ("100%", ["a"]),
        ("1%0", []),
        ("of_it", ["a"]),
        ("ofxit", []),
        ("%", ["a"]),
        ("_", ["b", "a"]),
        ("\\", ["a"]),
        ("'x'", ["a"]),
        ("nothing", []),
    ):
        assert await list_ids(service, "mia", search=search) == expected, search


async def test_pages_stay_right_while_questions_are_asked(service: PageService) -> None:
    for number in range(5):
        await service.ask("mia", f"{COUNT} -- {number}", session=f"s{number}")
    first = await service.get("mia", "/conversations", limit=2)
    assert [each["id"] for each in first["conversations"]] == ["s4", "s3"]
    # One that was not shown yet moves to the top, one is new, one is gone.
    await service.ask("mia", COUNT, session="s1")
    await service.ask("mia", COUNT, session="late")
    await service.send("mia", "DELETE", "/conversations/s4")
    second = await service.get("mia", "/conversations", limit=2, after=first["next"])
    assert [each["id"] for each in second["conversations"]] == ["s2", "s0"]
    assert second["next"] is None
    assert await list_ids(service, "mia") == ["late", "s1", "s3", "s2", "s0"]


async def test_conversations_about_a_database_that_may_not_be_asked_are_not_listed(
    service: PageService,
) -> None:
    await service.ask("zoe", "SELECT 1 FROM departments", session="s", database="second")
    assert await list_ids(service, "zoe") == ["s"]
    async with service.store.connection() as connection:
        for table in ("conversations", "conversation_turns"):
            await connection.execute(f"UPDATE quorumsql.{table} SET database = 'demo_erp'".encode())
    assert await list_ids(service, "zoe") == []
    assert (await service.send("zoe", "GET", "/conversations/s")).status_code == 404
