"""When public keys are read, and which of a document count."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nl2sql.errors import Unavailable
from serve_app.service.identity.public_keys import PublicKeys, parse_keys
from tests.serve_app.identity_provider import build_ec_key, build_rsa_key, describe_key

KEY = build_rsa_key()


class Source:
    """A JWKS document that changes, and a clock."""

    def __init__(self) -> None:
        self.ids = ["1"]
        self.reads = 0
        self.now = 1000.0
        self.is_down = False

    async def read(self) -> Any:
        self.reads += 1
        await asyncio.sleep(0)
        if self.is_down:
            raise Unavailable("down")
        return {"keys": [describe_key(KEY, key_id) for key_id in self.ids]}

    def build(self) -> PublicKeys:
        return PublicKeys(self.read, clock=lambda: self.now)


@pytest.fixture
def source() -> Source:
    return Source()


async def test_keys_are_read_once_for_many_requests(source: Source) -> None:
    keys = source.build()
    found = await asyncio.gather(*(keys.find("1") for _ in range(20)))
    assert None not in found
    assert source.reads == 1


async def test_a_new_key_is_found_without_delay(source: Source) -> None:
    keys = source.build()
    await keys.find("1")
    source.now += 11
    source.ids = ["1", "2"]
    assert await keys.find("2") is not None
    assert source.reads == 2


async def test_unknown_ids_do_not_flood_the_provider(source: Source) -> None:
    keys = source.build()
    for number in range(50):
        assert await keys.find(f"x{number}") is None
        source.now += 0.1
    assert source.reads == 1
    source.now += 10
    await keys.find("x")
    assert source.reads == 2


async def test_a_withdrawn_key_is_refused_when_the_keys_are_read_again(source: Source) -> None:
    keys = source.build()
    assert await keys.find("1") is not None
    source.ids = ["2"]
    source.now += 299
    assert await keys.find("1") is not None
    source.now += 2
    assert await keys.find("1") is None


async def test_known_keys_bridge_an_outage_of_an_hour(source: Source) -> None:
    keys = source.build()
    assert await keys.find("1") is not None
    source.is_down = True
    source.now += 3000
    assert await keys.find("1") is not None
    source.now += 601
    for _ in range(2):
        with pytest.raises(Unavailable):
            await keys.find("1")
    source.now += 10
    source.is_down = False
    assert await keys.find("1") is not None


async def test_without_an_id_only_a_single_key_is_found(source: Source) -> None:
    keys = source.build()
    assert await keys.find("") is not None
    source.ids = ["1", "2"]
    source.now += 301
    assert await keys.find("") is None


@pytest.mark.parametrize(
    ("entry", "algorithm"),
    [
        (describe_key(KEY, "1"), "RS256"),
        (describe_key(KEY, "1", alg="PS512"), "PS512"),
        (describe_key(build_ec_key(), "1"), "ES256"),
        (describe_key(KEY, "1", alg="HS256"), ""),
        (describe_key(KEY, "1", alg="none"), ""),
        (describe_key(KEY, "1", use="enc"), ""),
        ({"kty": "oct", "k": "c2VjcmV0", "kid": "1"}, ""),
        ({"kty": "oct", "k": "c2VjcmV0", "kid": "1", "alg": "RS256"}, ""),
        ({"kty": "RSA", "kid": "1"}, ""),
        ({"kty": "RSA", "n": "!", "e": "!", "kid": "1"}, ""),
        ({"kid": "1"}, ""),
        ("text", ""),
    ],
)
def test_only_public_signature_keys_count(entry: Any, algorithm: str) -> None:
    found = parse_keys({"keys": [entry]})
    assert (found["1"].algorithm_name if found else "") == algorithm


@pytest.mark.parametrize("document", [None, [], {}, {"keys": {}}, "keys"])
def test_another_document_holds_no_keys(document: Any) -> None:
    with pytest.raises(Unavailable):
        parse_keys(document)
