"""Signing in at an identity provider, with a browser's cookies and over the real index."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from serve_app.composition.wiring import Wiring
from serve_app.service.identity.sign_ins import MOST_FAILURES, choose_place
from serve_app.settings.identity import IdentitySettings
from tests.serve_app.identity_provider import (
    AUDIENCE,
    CLIENT_ID,
    CLIENT_SECRET,
    IdentityProvider,
    build_rsa_key,
    describe_key,
    serve_provider,
    sign,
)
from tests.serve_app.page_service import PageService, open_page_service
from tests.serve_app.served import connect

LOGIN = {"client_id": CLIENT_ID, "client_secret_env": "CLIENT_SECRET"}
SIGNING_KEY = build_rsa_key()
CALLBACK = "http://localhost/sign-in/callback"


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with serve_provider() as running:
        running.signing_key = SIGNING_KEY
        running.keys = [describe_key(SIGNING_KEY, "1")]
        yield running


@asynccontextmanager
async def open_service(
    provider: IdentityProvider,
    wiring: Wiring,
    patch: pytest.MonkeyPatch,
    **sections: Any,
) -> AsyncIterator[PageService]:
    patch.setenv("CLIENT_SECRET", CLIENT_SECRET)
    jwt = {"issuer": provider.url, "audience": AUDIENCE}
    async with open_page_service(wiring, patch, jwt=jwt, login=LOGIN, **sections) as served:
        yield served


@pytest.fixture
async def served(
    provider: IdentityProvider, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PageService]:
    async with open_service(provider, wiring, monkeypatch) as service:
        yield service


@pytest.fixture
async def browser(served: PageService) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(served.app) as client:
        yield client


async def begin(browser: httpx.AsyncClient, to: str = "/") -> str:
    """Where the provider sends the browser after ann has signed in there."""
    started = await browser.get("/sign-in/provider", params={"next": to})
    assert started.status_code == 303
    async with httpx.AsyncClient() as web:
        return (await web.get(started.headers["location"])).headers["location"]


async def sign_in(browser: httpx.AsyncClient, to: str = "/") -> httpx.Response:
    return await browser.get(await begin(browser, to))


async def assert_refused(
    browser: httpx.AsyncClient, response: httpx.Response, reason: str = "refused"
) -> None:
    assert (response.status_code, response.headers["location"]) == (303, f"/?sign_in={reason}")
    assert "quorumsql_session" not in str(response.headers.get_list("set-cookie"))
    assert (await browser.get("/me")).status_code == 401


async def test_whoever_signs_in_at_the_provider_is_its_principal(
    browser: httpx.AsyncClient,
) -> None:
    response = await sign_in(browser, "/#/schema/demo_erp?table=hr.employees")
    assert response.headers["location"] == "/#/schema/demo_erp?table=hr.employees"
    session, attempt = response.headers.get_list("set-cookie")
    assert session.endswith("; HttpOnly; Max-Age=43200; Path=/; SameSite=strict")
    assert attempt == 'quorumsql_attempt=""; HttpOnly; Max-Age=0; Path=/sign-in; SameSite=lax'
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["referrer-policy"] == "no-referrer"
    me = (await browser.get("/me")).json()
    assert (me["name"], me["roles"], me["sign_in"]) == ("ann", ["clerk"], "cookie")
    assert (await browser.get("/sign-in")).json()["methods"] == ["key", "provider"]


async def test_the_provider_is_asked_with_proofs_that_stay_here(
    browser: httpx.AsyncClient, provider: IdentityProvider
) -> None:
    started = await browser.get("/sign-in/provider")
    address = urlsplit(started.headers["location"])
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{provider.url}/authorize"
    asked = dict(parse_qsl(address.query))
    assert asked.pop("code_challenge_method") == "S256"
    assert len({asked.pop("state"), asked.pop("nonce"), asked.pop("code_challenge")}) == 3
    assert asked == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": CALLBACK,
        "scope": "openid profile",
    }
    cookie = started.headers["set-cookie"]
    assert cookie.endswith("; HttpOnly; Max-Age=600; Path=/sign-in; SameSite=lax")
    secret = cookie.removeprefix("quorumsql_attempt=").partition(".")[0]
    assert secret not in started.headers["location"]
    assert CLIENT_SECRET not in started.headers["location"]


async def test_behind_tls_the_cookies_are_secure_and_the_address_is_the_public_one(
    provider: IdentityProvider, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve = wiring.settings.serve.model_copy(update={"public_url": "https://sql.example.com"})
    async with (
        open_service(provider, wiring, monkeypatch, serve=serve) as served,
        connect(served.app) as browser,
    ):
        started = await browser.get("/sign-in/provider")
        assert started.headers["set-cookie"].endswith("; Secure")
        asked = dict(parse_qsl(urlsplit(started.headers["location"]).query))
        assert asked["redirect_uri"] == "https://sql.example.com/sign-in/callback"


OTHER = "https://other.example.com"
HTTP = "http://login.example.com/x"
CLAIMED: list[dict[str, Any]] = [
    {"nonce": "another"},
    {"nonce": None},
    {"iss": OTHER},
    {"aud": AUDIENCE},
    {"azp": "other"},
    {"exp": 1},
    {"sub": None},
    {"roles": None},
]
RETURNED: list[tuple[dict[str, str | None], str]] = [
    *(({"state": state}, "refused") for state in ("", "another", None, "é")),
    ({"iss": OTHER}, "refused"),
    ({"error": "access_denied", "code": None}, "cancelled"),
    ({"error": "server_error\nforged line"}, "refused"),
    ({"code": None}, "refused"),
    ({"code": "x" * 5000}, "refused"),
]
NAMED = {"authorization_response_iss_parameter_supported": True}
UNFIT: dict[str, list[tuple[dict[str, Any], str]]] = {
    "claims": [({"claims": claims}, "refused") for claims in CLAIMED],
    "answer": [({"returned": returned}, reason) for returned, reason in RETURNED],
    "key": [({"signing_key": build_rsa_key()}, "refused")],
    "issuer": [({"metadata": NAMED, "returned": {"iss": None}}, "refused")],
    "address": [({"metadata": {"token_endpoint": HTTP}}, "unavailable")],
}


@pytest.mark.parametrize("cases", UNFIT.values(), ids=UNFIT)
async def test_what_does_not_fit_signs_nobody_in(
    served: PageService,
    provider: IdentityProvider,
    caplog: pytest.LogCaptureFixture,
    cases: list[tuple[dict[str, Any], str]],
) -> None:
    """ID tokens for something else, forged answers, another key, a provider without TLS.

    Each at another address: whoever fails often has to wait.
    """
    for number, (changed, reason) in enumerate(cases):
        for name, value in changed.items():
            setattr(provider, name, value)
        async with connect(served.app, f"192.0.2.{number}") as browser:
            await assert_refused(browser, await sign_in(browser), reason)
    assert not any("\n" in message for message in caplog.messages)


async def test_an_older_provider_need_not_name_itself(
    browser: httpx.AsyncClient, provider: IdentityProvider
) -> None:
    provider.returned = {"iss": None}
    assert (await sign_in(browser)).headers["location"] == "/"


async def test_an_answer_in_another_browser_is_refused(
    served: PageService, browser: httpx.AsyncClient
) -> None:
    """Or an attacker could sign somebody in as themselves."""
    back = await begin(browser)
    async with connect(served.app) as other:
        await assert_refused(other, await other.get(back))
        await begin(other)
        await assert_refused(other, await other.get(back))


async def test_a_code_is_used_once(served: PageService, browser: httpx.AsyncClient) -> None:
    back = await begin(browser)
    cookie = {"Cookie": f"quorumsql_attempt={browser.cookies['quorumsql_attempt']}"}
    assert (await browser.get(back)).headers["location"] == "/"
    async with connect(served.app) as thief:
        await assert_refused(thief, await thief.get(back))
        # Nor with the cookie of the attempt: the provider knows that the code was used.
        await assert_refused(thief, await thief.get(back, headers=cookie))


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.io",
        "//evil.io",
        "/\\evil.io",
        "/\t/evil.io",
        "\\\\evil.io",
        "javascript:alert(1)",
        "/sign-in/provider",
        "/%2f/evil.io",
        "/#\r\nSet-Cookie: a=b",
        "http:evil.io",
        "/?" + "x" * 5000,
    ],
)
def test_nobody_is_led_anywhere_but_to_the_page(to: str) -> None:
    assert choose_place(to) == "/"


async def test_a_forged_cookie_leads_nowhere_else(
    served: PageService, browser: httpx.AsyncClient
) -> None:
    back = await begin(browser)
    secret = browser.cookies["quorumsql_attempt"].partition(".")[0]
    forged = {"Cookie": f"quorumsql_attempt={secret}.aHR0cHM6Ly9ldmlsLmlv"}  # https://evil.io
    async with connect(served.app) as other:
        assert (await other.get(back, headers=forged)).headers["location"] == "/"


async def test_a_provider_that_does_not_answer_is_named_as_the_reason(
    browser: httpx.AsyncClient, provider: IdentityProvider
) -> None:
    provider.is_down = True
    await assert_refused(browser, await browser.get("/sign-in/provider"), "unavailable")
    provider.is_down = False
    back = await begin(browser)
    provider.is_down = True
    await assert_refused(browser, await browser.get(back), "unavailable")


async def test_nobody_is_led_to_a_provider_over_plain_http(
    browser: httpx.AsyncClient, provider: IdentityProvider
) -> None:
    provider.metadata = {"authorization_endpoint": HTTP}
    await assert_refused(browser, await browser.get("/sign-in/provider"), "unavailable")


async def test_whoever_fails_often_has_to_wait(browser: httpx.AsyncClient) -> None:
    for _ in range(MOST_FAILURES):
        await assert_refused(browser, await browser.get("/sign-in/callback"))
    await assert_refused(browser, await sign_in(browser), "too_many")


async def test_a_sign_in_ends_with_its_provider(
    provider: IdentityProvider, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        open_service(provider, wiring, monkeypatch) as served,
        open_page_service(wiring, monkeypatch, jwt={}, login={}) as changed,
        connect(served.app) as browser,
        connect(changed.app) as later,
    ):
        await sign_in(browser)
        cookie = {"Cookie": f"quorumsql_session={browser.cookies['quorumsql_session']}"}
        assert (await browser.get("/me")).status_code == 200
        assert (await later.get("/me", headers=cookie)).status_code == 401


async def test_a_signed_token_signs_in_until_it_expires(
    served: PageService, provider: IdentityProvider
) -> None:
    claims = {"iss": provider.url, "aud": AUDIENCE, "sub": "ann", "roles": ["clerk"]}
    async with connect(served.app) as client:
        client.headers["Origin"] = "http://localhost"
        expired = sign({**claims, "exp": 1}, SIGNING_KEY)
        assert (await client.post("/sign-in", json={"token": expired})).status_code == 401
        soon = sign({**claims, "exp": int(time.time()) + 100}, SIGNING_KEY)
        response = await client.post("/sign-in", json={"token": soon})
        assert response.status_code == 204
        lasts_s = int(response.headers["set-cookie"].partition("Max-Age=")[2].partition(";")[0])
        assert 90 <= lasts_s <= 100
        # Within the leeway a request would be answered, but a sign-in would have ended.
        over = sign({**claims, "exp": int(time.time()) - 5}, SIGNING_KEY)
        assert (await client.post("/sign-in", json={"token": over})).status_code == 401


@pytest.mark.parametrize(
    ("identity", "problem"),
    [
        ({"login": {"client_id": "x"}}, "login needs the provider"),
        (
            {
                "jwt": {"issuer": "acme", "audience": "x", "jwks": "keys.json"},
                "login": {"client_id": "x"},
            },
            "only addresses with https",
        ),
    ],
)
def test_incomplete_settings_are_refused(identity: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        IdentitySettings.model_validate(identity)
