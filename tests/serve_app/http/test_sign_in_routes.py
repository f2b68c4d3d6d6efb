"""Signing in on the page, over the real index, policy and HTTP front."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from retrieval.index_store.credentials import ApiKeyStore
from serve_app.composition.wiring import Wiring
from serve_app.service.identity.sign_ins import MOST_FAILURES
from tests.serve_app.interfaces import build_token
from tests.serve_app.page_service import PageService, open_page_service
from tests.serve_app.served import connect

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWN = {"Origin": "http://localhost"}


async def sign_in(
    service: PageService, token: str, address: str = "192.0.2.1", **headers: str
) -> httpx.Response:
    """The response to ``POST /sign-in`` as the page sends it, to a browser at that address."""
    async with connect(service.app, address) as client:
        return await client.post("/sign-in", json={"token": token}, headers={**OWN, **headers})


async def send(
    service: PageService, cookie: str, method: str, path: str, **options: Any
) -> httpx.Response:
    """The response to a request with only the cookie, from a page of the service."""
    headers = {**OWN, "Cookie": f"quorumsql_session={cookie}", **options.pop("headers", {})}
    headers = {name: value for name, value in headers.items() if value}
    async with connect(service.app) as client:
        return await client.request(method, path, headers=headers, **options)


def read_value(response: httpx.Response) -> str:
    return response.headers["set-cookie"].partition(";")[0].removeprefix("quorumsql_session=")


async def test_a_cookie_identifies_as_its_token_did(service: PageService) -> None:
    response = await sign_in(service, build_token("mia"))
    assert (response.status_code, response.content) == (204, b"")
    attributes = response.headers["set-cookie"].split("; ")[1:]
    assert attributes == ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=strict"]
    me = (await send(service, read_value(response), "GET", "/me")).json()
    assert (me["name"], me["sign_in"], me["roles"]) == ("mia", "cookie", ["department_member"])
    run = {"sql": "SELECT count(*) FROM employees", "database": "demo_erp"}
    by_cookie = await send(service, read_value(response), "POST", "/run", json=run)
    by_token = await service.run("mia", run["sql"], database="demo_erp")
    assert by_cookie.json()["rows"] == by_token.json()["rows"]


@pytest.mark.parametrize(
    ("address", "token"),
    enumerate(["wrong", "qsql_" + "x" * 43, "a.b.c", "token of nobody"], start=100),
)
async def test_an_unknown_token_gets_no_cookie(
    service: PageService, address: int, token: str
) -> None:
    for _ in range(MOST_FAILURES):
        response = await sign_in(service, token, f"192.0.2.{address}")
        assert (response.status_code, "set-cookie" in response.headers) == (401, False)
    # Even with the right token: otherwise it would be a guess like others.
    refused = await sign_in(service, build_token("mia"), f"192.0.2.{address}")
    assert (refused.status_code, "set-cookie" in refused.headers) == (429, False)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    # Requests with a token are not concerned.
    async with connect(service.app, f"192.0.2.{address}") as client:
        sent = {"Authorization": f"Bearer {build_token('mia')}"}
        assert (await client.get("/me", headers=sent)).json()["name"] == "mia"


async def test_how_to_sign_in_is_told_to_everybody(service: PageService) -> None:
    assert (await service.send("", "GET", "/me")).status_code == 401
    assert await service.get("", "/sign-in") == {"needed": True, "methods": ["key"]}
    assert (await service.send("mia", "GET", "/sign-in/provider")).status_code == 404


async def test_whoever_signs_out_is_not_known_any_more(service: PageService) -> None:
    names = ("mia", "mia", "mia", "noa")
    cookies = [read_value(await sign_in(service, build_token(name))) for name in names]

    async def find_known() -> list[bool]:
        return [(await send(service, each, "GET", "/me")).is_success for each in cookies]

    for _ in range(2):
        out = await send(service, cookies[0], "POST", "/sign-out", json={})
        assert (out.status_code, out.content) == (204, b"")
        assert "Max-Age=0" in out.headers["set-cookie"]
    assert await find_known() == [False, True, True, True]
    everywhere = {"everywhere": True}
    out = await send(service, cookies[0], "POST", "/sign-out", json=everywhere)
    assert out.status_code == 401
    out = await send(service, cookies[1], "POST", "/sign-out", json=everywhere)
    assert out.status_code == 204
    assert await find_known() == [False, False, False, True]


async def test_whoever_signs_in_again_leaves_nothing_behind(service: PageService) -> None:
    first = read_value(await sign_in(service, build_token("mia")))
    cookie = {"Cookie": f"quorumsql_session={first}"}
    second = read_value(await sign_in(service, build_token("noa"), **cookie))
    assert (await send(service, first, "GET", "/me")).status_code == 401
    assert (await send(service, second, "GET", "/me")).json()["name"] == "noa"


async def test_without_its_index_nobody_is_signed_in(service: PageService) -> None:
    cookie = read_value(await sign_in(service, build_token("mia")))
    async with service.store.connection() as connection:
        await connection.execute("ALTER TABLE quorumsql.sign_ins RENAME TO away")
    try:
        assert (await send(service, cookie, "GET", "/me")).status_code == 503
        assert (await sign_in(service, build_token("mia"))).status_code == 503
        out = await send(service, cookie, "POST", "/sign-out", json={})
        assert (out.status_code, "set-cookie" in out.headers) == (503, False)
        assert (await service.send("", "GET", "/")).status_code == 200
    finally:
        async with service.store.connection() as connection:
            await connection.execute("ALTER TABLE quorumsql.away RENAME TO sign_ins")


async def test_where_no_token_is_needed_everybody_is_local(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = {"roles": ["department_member"], "attributes": {"department_id": 31}}
    async with open_page_service(wiring, monkeypatch, principals={}, local=local) as served:
        me = await served.get("", "/me")
        assert (me["name"], me["sign_in"]) == ("local", "none")
        assert me["rights"] == {"review": True}
        assert "hr.employees" in [each["table"] for each in me["hidden"]]
        assert (await sign_in(served, "anything")).status_code == 404
        out = await served.send("", "POST", "/sign-out", json={})
        assert out.status_code == 204


async def test_a_sign_in_ends_with_its_token(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_page_service(wiring, monkeypatch, api_keys=True) as served:
        keys = ApiKeyStore(served.store)
        record, key = await keys.create(wiring.settings.identity.principal(), valid_days=1)
        by_key = read_value(await sign_in(served, key))
        by_token = read_value(await sign_in(served, build_token("mia")))
        for cookie in (by_key, by_token):
            assert (await send(served, cookie, "GET", "/me")).status_code == 200
        await keys.revoke(record.id)
        monkeypatch.setenv("TOKEN_OF_MIA", "another")
        for cookie in (by_key, by_token):
            assert (await send(served, cookie, "GET", "/me")).status_code == 401


ALLOWED = "https://app.example.com"


SENT_FROM: list[tuple[dict[str, str], int]] = [
    ({}, 200),
    ({"Origin": ""}, 403),
    ({"Origin": "", "Sec-Fetch-Site": "same-origin"}, 200),
    ({"Origin": "", "Sec-Fetch-Site": "same-site"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost:3000"}, 403),
    ({"Origin": "http://evil.io"}, 403),
    ({"Origin": ALLOWED}, 403),
]


async def test_only_a_page_of_the_service_acts_by_a_cookie(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does another sign anybody in or out; not even a page of an allowed origin."""
    serve = wiring.settings.serve.model_copy(update={"allowed_origins": (ALLOWED,)})
    async with open_page_service(wiring, monkeypatch, serve=serve) as served:
        cookie = read_value(await sign_in(served, build_token("mia")))
        sent = {"database": "demo_erp", "sql": "SELECT 1"}
        for headers, status in SENT_FROM:
            response = await send(served, cookie, "POST", "/run", json=sent, headers=headers)
            assert response.status_code == status, (headers, response.text)
            assert "access-control-allow-credentials" not in response.headers, headers
            if headers.get("Origin"):
                for path, body in (("/sign-in", {"token": build_token("mia")}), ("/sign-out", {})):
                    refused = await served.send("", "POST", path, json=body, headers=headers)
                    shown = (refused.status_code, refused.headers.get("set-cookie"))
                    assert shown == (403, None), (headers, path)


async def test_a_token_counts_before_the_cookie(service: PageService) -> None:
    cookie = read_value(await sign_in(service, build_token("mia")))
    token = {"Authorization": f"Bearer {build_token('noa')}"}
    me = (await send(service, cookie, "GET", "/me", headers=token)).json()
    assert (me["name"], me["sign_in"]) == ("noa", "token")
    wrong = {"Authorization": "Bearer wrong"}
    assert (await send(service, cookie, "GET", "/me", headers=wrong)).status_code == 401


async def test_a_foreign_cookie_and_two_cookies_are_nobody(service: PageService) -> None:
    own = f"quorumsql_session={read_value(await sign_in(service, build_token('mia')))}"
    foreign = ("quorumsql_session=", "quorumsql_session=x", "quorumsql_session=a b", "other=1")
    async with connect(service.app) as client:
        for cookies in ((own, "quorumsql_session=x"), (f"quorumsql_session=x; {own}",), *foreign):
            sent = (cookies,) if isinstance(cookies, str) else cookies
            headers = [("Cookie", each) for each in sent]
            assert (await client.get("/me", headers=headers)).status_code == 401


async def test_everybody_is_told_what_is_hidden_of_what_they_see(service: PageService) -> None:
    mia = await service.get("mia", "/me")
    tables = {each["table"]: each for each in mia["hidden"] if each["database"] == "demo_erp"}
    assert tables["hr.employees"]["some_rows"]
    assert "department_id" in tables["hr.employees"]["rows"]
    assert "salary" in tables["hr.employees"]["columns"]
    # What the principal sees nothing of is not named.
    shown = await service.get("mia", "/databases/demo_erp/tables", limit=200)
    assert set(tables) <= {each["table"] for each in shown["tables"]}
    assert (await service.get("ada", "/me"))["hidden"] == []
    for name, may in (("cleo", False), ("ravi", True), ("ada", True)):
        assert (await service.get(name, "/me"))["rights"] == {"review": may}


async def test_what_is_left_of_the_limits_is_told_and_not_used_by_asking(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"tokens_per_day": 5000, "rows_per_day": 100, "questions_at_once": 2}
    async with open_page_service(wiring, monkeypatch, limits=limits) as served:
        before = {each["name"]: each for each in (await served.get("ada", "/me"))["limits"]}
        assert {name: (each["most"], each["used"]) for name, each in before.items()} == {
            "questions_at_once": (2, 0),
            "tokens_per_day": (5000, 0),
            "rows_per_day": (100, 0),
        }
        assert before["questions_at_once"]["resets_in_s"] is None
        assert 0 < before["rows_per_day"]["resets_in_s"] <= 86_400
        sql = "SELECT employee_id FROM employees ORDER BY 1"
        await served.run("ada", sql, database="demo_erp", max_rows=7)
        after = {each["name"]: each for each in (await served.get("ada", "/me"))["limits"]}
        assert after["rows_per_day"]["used"] == 7
