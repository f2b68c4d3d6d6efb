"""API keys and sign-ins on a real PostgreSQL: found while valid, by their hash only."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest

from nl2sql.errors import SettingsError
from nl2sql.types import Entitlement, Principal, UsageLimits
from retrieval.index_store.credentials import PREFIX, ApiKeyStore, SignIn, SignInStore
from retrieval.index_store.store import IndexStore
from tests.retrieval.index_store.conftest import execute

ANN = Principal(
    "ann",
    ("clerk", "buyer"),
    (("country", "DE"), ("region_ids", (1, 2)), ("senior", True)),
    Entitlement(databases=("shop",), limits=UsageLimits(requests_per_minute=5)),
)


@pytest.fixture
def keys(store: IndexStore) -> ApiKeyStore:
    return ApiKeyStore(store)


def change(index_url: str, assignment: str) -> None:
    with psycopg.connect(index_url) as connection:
        connection.execute(f"UPDATE quorumsql.api_keys SET {assignment}".encode())


async def test_a_key_finds_its_principal(keys: ApiKeyStore) -> None:
    record, key = await keys.create(ANN, valid_days=None)
    found = await keys.find(key)
    assert found is not None
    assert found.principal == ANN
    assert found.principal.access == replace(ANN.access, key=record.id)
    assert found.expires_at is None
    assert len(key) == len(PREFIX) + 43


async def test_the_database_holds_no_key(keys: ApiKeyStore, index_url: str) -> None:
    _, key = await keys.create(ANN, valid_days=1)
    with psycopg.connect(index_url) as connection:
        [[dump]] = connection.execute("SELECT k::text FROM quorumsql.api_keys k").fetchall()
    assert key not in dump
    assert key.removeprefix(PREFIX).encode().hex() not in dump


@pytest.mark.parametrize("text", ["", "qsql_", "qsql_" + "a" * 43, "qsql_" + "é" * 43, "x" * 999])
async def test_any_other_text_is_no_key(keys: ApiKeyStore, text: str) -> None:
    _, key = await keys.create(ANN, valid_days=None)
    for wrong in (text, key[:-1], key + "a", key.upper(), f" {key}", f"{key}\n"):
        assert await keys.find(wrong) is None


async def test_an_expired_key_is_refused(keys: ApiKeyStore, index_url: str) -> None:
    _, key = await keys.create(ANN, valid_days=1)
    assert await keys.find(key) is not None
    change(index_url, "expires_at = now() - interval '1 millisecond'")
    assert await keys.find(key) is None
    [record] = await keys.list_all()
    assert record.describe_state(datetime.now(UTC)) == "expired"
    with pytest.raises(SettingsError, match="no valid API key"):
        await keys.revoke(record.id)


async def test_a_revoked_key_is_refused_at_once(keys: ApiKeyStore) -> None:
    record, key = await keys.create(ANN, valid_days=None)
    await keys.revoke(record.id)
    assert await keys.find(key) is None
    assert (await keys.list_all())[0].describe_state(datetime.now(UTC)) == "revoked"
    with pytest.raises(SettingsError, match="no valid API key"):
        await keys.revoke(record.id)


SIGNED_IN = Principal(
    "ann",
    ("clerk", "analyst"),
    (("region_ids", (1, 2)), ("country", "DE"), ("share", 0.5)),
    Entitlement(databases=("shop",)),
)
SIGN_IN = SignIn("provider", "https://login.example.com page", SIGNED_IN)


@pytest.fixture
def sign_ins(store: IndexStore) -> SignInStore:
    return SignInStore(store)


async def test_a_sign_in_is_found_as_it_was_made(sign_ins: SignInStore) -> None:
    cookie = await sign_ins.create(SIGN_IN, lasts_s=60)
    assert await sign_ins.find(cookie) == SIGN_IN


async def test_the_cookie_is_not_stored(sign_ins: SignInStore, index_url: str) -> None:
    first, second = [await sign_ins.create(SIGN_IN, lasts_s=60) for _ in range(2)]
    assert first != second
    stored = execute(index_url, "SELECT s::text, encode(hash, 'escape') FROM quorumsql.sign_ins s")
    assert len(stored) == 2
    assert first not in str(stored)


@pytest.mark.parametrize("cookie", ["", "x", "x" * 43, "'; --", "ä" * 43, "\0" * 43, "x" * 10_000])
async def test_other_texts_are_nobody(sign_ins: SignInStore, cookie: str) -> None:
    await sign_ins.create(SIGN_IN, lasts_s=60)
    assert await sign_ins.find(cookie) is None


async def test_one_ends_or_all_of_a_name(sign_ins: SignInStore) -> None:
    bob = SignIn("static", "hash", Principal("bob"))
    first, second, third = [await sign_ins.create(SIGN_IN, lasts_s=60) for _ in range(3)]
    other = await sign_ins.create(bob, lasts_s=60)
    await sign_ins.end(first)
    await sign_ins.end("no such")
    assert [await sign_ins.find(each) for each in (first, second)] == [None, SIGN_IN]
    await sign_ins.end_all("ann")
    found = [await sign_ins.find(each) for each in (second, third, other)]
    assert found == [None, None, bob]
