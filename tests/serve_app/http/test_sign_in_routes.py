"""Signing in on the page, over the real index, policy and HTTP front."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from retrieval.index_store.credentials import ApiKeyStore
from serve_app.composition.wiring import Wiring
from serve_app.service.identity.guessing import MOST_FAILURES
from tests.serve_app.interfaces import build_token
from tests.serve_app.page_service import PageService, open_page_service
from tests.serve_app.served import connect

OWN = {"Origin": "http://localhost"}


@pytest.fixture
async def served(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[PageService]:
    async with open_page_service(wiring, monkeypatch, tmp_path) as service:
        yield service


async def sign_in(served: PageService, token: str, **headers: str) -> httpx.Response:
    """The response to ``POST /sign-in`` as the page sends it."""
    async with connect(served.app) as client:
        return await client.post("/sign-in", json={"token": token}, headers={**OWN, **headers})


async def send(
    served: PageService, cookie: str, method: str, path: str, **options: Any
) -> httpx.Response:
    """The response to a request with only the cookie, from a page of the service."""
    headers = {**OWN, "Cookie": f"quorumsql_session={cookie}", **options.pop("headers", {})}
    headers = {name: value for name, value in headers.items() if value}
    async with connect(served.app) as client:
        return await client.request(method, path, headers=headers, **options)


def read_value(response: httpx.Response) -> str:
    return response.headers["set-cookie"].partition(";")[0].removeprefix("quorumsql_session=")


async def test_a_cookie_identifies_as_its_token_did(served: PageService) -> None:
    response = await sign_in(served, build_token("mia"))
    assert (response.status_code, response.content) == (204, b"")
    attributes = response.headers["set-cookie"].split("; ")[1:]
    assert attributes == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict"]
    me = (await send(served, read_value(response), "GET", "/me")).json()
    assert (me["name"], me["sign_in"], me["roles"]) == ("mia", "cookie", ["department_member"])
    run = {"sql": "SELECT count(*) FROM employees", "database": "demo_erp"}
    by_cookie = await send(served, read_value(response), "POST", "/run", json=run)
    by_token = await served.run("mia", run["sql"], database="demo_erp")
    assert by_cookie.json()["rows"] == by_token.json()["rows"]


async def test_behind_tls_the_cookie_is_secure(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    serve = wiring.settings.serve.model_copy(update={"public_url": "https://sql.example.com"})
    async with open_page_service(wiring, monkeypatch, tmp_path, serve=serve) as served:
        response = await sign_in(served, build_token("mia"))
        assert response.headers["set-cookie"].endswith("; Secure")


@pytest.mark.parametrize("token", ["wrong", "qsql_" + "x" * 43, "a.b.c", "token of nobody"])
async def test_an_unknown_token_gets_no_cookie(served: PageService, token: str) -> None:
    response = await sign_in(served, token)
    assert response.status_code == 401
    assert "set-cookie" not in response.headers


async def test_how_to_sign_in_is_told_to_everybody(served: PageService) -> None:
    response = await served.send("", "GET", "/me")
    assert (response.status_code, response.json()["methods"]) == (401, ["key"])
    assert (await served.get("mia", "/me"))["methods"] == ["key"]
    assert await served.get("", "/sign-in") == {"needed": True, "methods": ["key"]}
    assert (await served.send("mia", "GET", "/sign-in/provider")).status_code == 404


async def test_whoever_signs_out_is_not_known_any_more(served: PageService) -> None:
    cookie, other = [read_value(await sign_in(served, build_token("mia"))) for _ in range(2)]
    out = await send(served, cookie, "POST", "/sign-out", json={})
    assert (out.status_code, out.content) == (204, b"")
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert (await send(served, cookie, "GET", "/me")).status_code == 401
    assert (await send(served, other, "GET", "/me")).status_code == 200


async def test_signing_out_everywhere_ends_the_own_sign_ins_only(served: PageService) -> None:
    first, second, noa = [
        read_value(await sign_in(served, build_token(name))) for name in ("mia", "mia", "noa")
    ]
    out = await send(served, first, "POST", "/sign-out", json={"everywhere": True})
    assert out.status_code == 204
    found = [(await send(served, each, "GET", "/me")).status_code for each in (first, second, noa)]
    assert found == [401, 401, 200]


async def test_every_replica_knows_who_signed_out(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with (
        open_page_service(wiring, monkeypatch, tmp_path) as one,
        open_page_service(wiring, monkeypatch, tmp_path) as other,
    ):
        cookie = read_value(await sign_in(one, build_token("mia")))
        assert (await send(other, cookie, "GET", "/me")).status_code == 200
        await send(other, cookie, "POST", "/sign-out", json={})
        for replica in (one, other):
            assert (await send(replica, cookie, "GET", "/me")).status_code == 401


async def test_signing_out_twice_is_no_error(served: PageService) -> None:
    cookie = read_value(await sign_in(served, build_token("mia")))
    for _ in range(2):
        out = await send(served, cookie, "POST", "/sign-out", json={})
        assert (out.status_code, "Max-Age=0" in out.headers["set-cookie"]) == (204, True)
    everywhere = await send(served, cookie, "POST", "/sign-out", json={"everywhere": True})
    assert everywhere.status_code == 401


async def test_whoever_signs_in_again_leaves_nothing_behind(served: PageService) -> None:
    first = read_value(await sign_in(served, build_token("mia")))
    cookie = {"Cookie": f"quorumsql_session={first}"}
    second = read_value(await sign_in(served, build_token("noa"), **cookie))
    assert (await send(served, first, "GET", "/me")).status_code == 401
    assert (await send(served, second, "GET", "/me")).json()["name"] == "noa"


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
async def test_no_other_page_signs_anybody_in_or_out(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: str
) -> None:
    foreign = "https://app.example.com"
    serve = wiring.settings.serve.model_copy(update={"allowed_origins": (foreign,)})
    body = {"token": build_token("mia")} if path == "/sign-in" else {}
    async with open_page_service(wiring, monkeypatch, tmp_path, serve=serve) as served:
        for origin in (foreign, "https://evil.io", "null"):
            sent = await served.send("", "POST", path, json=body, headers={"Origin": origin})
            assert (sent.status_code, sent.headers.get("set-cookie")) == (403, None)


async def test_whoever_guesses_has_to_wait(served: PageService) -> None:
    for _ in range(MOST_FAILURES):
        assert (await sign_in(served, "a guess")).status_code == 401
    # Even with the right token: otherwise it would be a guess like others.
    refused = await sign_in(served, build_token("mia"))
    assert (refused.status_code, "set-cookie" in refused.headers) == (429, False)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    # Requests with a token are not concerned.
    assert (await served.get("mia", "/me"))["name"] == "mia"


async def test_without_its_index_nobody_is_signed_in(served: PageService) -> None:
    cookie = read_value(await sign_in(served, build_token("mia")))
    async with served.store.connection() as connection:
        await connection.execute("ALTER TABLE quorumsql.sign_ins RENAME TO away")
    try:
        assert (await send(served, cookie, "GET", "/me")).status_code == 503
        assert (await sign_in(served, build_token("mia"))).status_code == 503
        out = await send(served, cookie, "POST", "/sign-out", json={})
        assert (out.status_code, "set-cookie" in out.headers) == (503, False)
        assert (await served.send("", "GET", "/")).status_code == 200
    finally:
        async with served.store.connection() as connection:
            await connection.execute("ALTER TABLE quorumsql.away RENAME TO sign_ins")


async def test_where_no_token_is_needed_everybody_is_local(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    local = {"roles": ["department_member"], "attributes": {"department_id": 31}}
    async with open_page_service(
        wiring, monkeypatch, tmp_path, principals={}, local=local
    ) as served:
        me = await served.get("", "/me")
        assert (me["name"], me["sign_in"], me["methods"]) == ("local", "none", [])
        assert me["rights"] == {"review": True}
        assert "hr.employees" in [each["table"] for each in me["hidden"]]
        assert (await sign_in(served, "anything")).status_code == 404
        out = await served.send("", "POST", "/sign-out", json={})
        assert out.status_code == 204


async def test_a_changed_token_ends_its_sign_ins(
    served: PageService, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie = read_value(await sign_in(served, build_token("mia")))
    monkeypatch.setenv("TOKEN_OF_MIA", "another")
    assert (await send(served, cookie, "GET", "/me")).status_code == 401


async def test_a_revoked_key_ends_its_sign_ins(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with open_page_service(wiring, monkeypatch, tmp_path, api_keys=True) as served:
        keys = ApiKeyStore(served.store)
        principal = wiring.settings.identity.principal()
        record, key = await keys.create(principal, valid_days=1)
        cookie = read_value(await sign_in(served, key))
        assert (await send(served, cookie, "GET", "/me")).status_code == 200
        await keys.rotate(record.id)
        assert (await send(served, cookie, "GET", "/me")).status_code == 200
        await keys.revoke(record.id)
        assert (await send(served, cookie, "GET", "/me")).status_code == 401


async def test_an_expired_sign_in_is_refused(served: PageService) -> None:
    cookie = read_value(await sign_in(served, build_token("mia")))
    async with served.store.connection() as connection:
        await connection.execute("UPDATE quorumsql.sign_ins SET expires_at = now()")
    assert (await send(served, cookie, "GET", "/me")).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": ""}, 403),
        ({"Origin": "", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "http://evil.io"}, 403),
    ],
)
async def test_only_a_page_of_the_service_may_change_something(
    served: PageService, headers: dict[str, str], status: int
) -> None:
    cookie = read_value(await sign_in(served, build_token("mia")))
    sent = {"database": "demo_erp", "sql": "SELECT 1"}
    response = await send(served, cookie, "POST", "/format", json=sent, headers=headers)
    assert response.status_code == status, response.text


async def test_a_page_of_an_allowed_origin_does_not_act_by_the_cookie(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    serve = wiring.settings.serve.model_copy(
        update={"allowed_origins": ("https://app.example.com",)}
    )
    async with open_page_service(wiring, monkeypatch, tmp_path, serve=serve) as served:
        cookie = read_value(await sign_in(served, build_token("mia")))
        sent = {"database": "demo_erp", "sql": "SELECT 1"}
        foreign = {"Origin": "https://app.example.com"}
        response = await send(served, cookie, "POST", "/format", json=sent, headers=foreign)
        assert response.status_code == 403
        assert "access-control-allow-credentials" not in response.headers


async def test_a_token_counts_before_the_cookie(served: PageService) -> None:
    cookie = read_value(await sign_in(served, build_token("mia")))
    token = {"Authorization": f"Bearer {build_token('noa')}"}
    me = (await send(served, cookie, "GET", "/me", headers=token)).json()
    assert (me["name"], me["sign_in"]) == ("noa", "token")
    wrong = {"Authorization": "Bearer wrong"}
    assert (await send(served, cookie, "GET", "/me", headers=wrong)).status_code == 401


@pytest.mark.parametrize(
    "cookies", ["quorumsql_session=", "quorumsql_session=x", "quorumsql_session=a b", "other=1"]
)
async def test_a_foreign_cookie_is_nobody(served: PageService, cookies: str) -> None:
    async with connect(served.app) as client:
        assert (await client.get("/me", headers={"Cookie": cookies})).status_code == 401


async def test_two_cookies_are_nobody(served: PageService) -> None:
    cookie = read_value(await sign_in(served, build_token("mia")))
    async with connect(served.app) as client:
        headers = [("Cookie", f"quorumsql_session={cookie}"), ("Cookie", "quorumsql_session=x")]
        assert (await client.get("/me", headers=headers)).status_code == 401
        together = {"Cookie": f"quorumsql_session=x; quorumsql_session={cookie}"}
        assert (await client.get("/me", headers=together)).status_code == 401


async def test_everybody_is_told_what_is_hidden_of_what_they_see(served: PageService) -> None:
    mia = await served.get("mia", "/me")
    tables = {each["table"]: each for each in mia["hidden"] if each["database"] == "demo_erp"}
    assert tables["hr.employees"]["some_rows"]
    assert "department_id" in tables["hr.employees"]["rows"]
    assert tables["hr.employees"]["columns"] == ["salary"] or tables["hr.employees"]["columns"]
    reason = tables["hr.employees"]["reason"]
    assert reason.startswith("Your role department_member may read only some rows of this table")
    cleo = await served.get("cleo", "/me")
    same = {each["table"]: each for each in cleo["hidden"] if each["database"] == "demo_erp"}
    # She has another role, of which the policy knows nothing.
    assert same["hr.employees"] == tables["hr.employees"]
    # What the principal sees nothing of is not named.
    shown = await served.get("mia", "/databases/demo_erp/tables", limit=200)
    assert set(tables) <= {each["table"] for each in shown["tables"]}
    assert (await served.get("ada", "/me"))["hidden"] == []


async def test_rights_follow_the_roles(served: PageService) -> None:
    rights = {name: (await served.get(name, "/me"))["rights"] for name in ("cleo", "ravi", "ada")}
    assert rights["cleo"] == {"review": False}
    assert rights["ravi"] == {"review": True}
    assert rights["ada"] == {"review": True}


async def test_what_is_left_of_the_limits_is_told_and_not_used_by_asking(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limits = {"tokens_per_day": 5000, "rows_per_day": 100, "questions_at_once": 2}
    async with open_page_service(wiring, monkeypatch, tmp_path, limits=limits) as served:
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
