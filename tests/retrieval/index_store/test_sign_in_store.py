"""Sign-ins on a real PostgreSQL: found by their cookie until they end."""

from __future__ import annotations

import pytest

from nl2sql.types import Entitlement, Principal
from retrieval.index_store.credentials import SignIn, SignInStore
from retrieval.index_store.store import IndexStore
from tests.retrieval.index_store.conftest import execute

ANN = Principal(
    "ann",
    ("clerk", "analyst"),
    (("region_ids", (1, 2)), ("country", "DE"), ("share", 0.5)),
    Entitlement(databases=("shop",)),
)
SIGN_IN = SignIn("provider", "https://login.example.com page", ANN)


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


async def test_an_expired_one_is_not_found_and_deleted_later(
    sign_ins: SignInStore, index_url: str
) -> None:
    cookie = await sign_ins.create(SIGN_IN, lasts_s=0)
    assert await sign_ins.find(cookie) is None
    await sign_ins.create(SIGN_IN, lasts_s=60)
    assert execute(index_url, "SELECT count(*) FROM quorumsql.sign_ins") == [(1,)]


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
