"""Which kind of token is looked up where, in which order."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.errors import IndexUnavailable, Unauthenticated
from nl2sql.types import Principal
from retrieval.index_store.credentials import ApiKeyStore
from retrieval.index_store.store import IndexStore
from serve_app.service.identity.identifier import Identifier
from serve_app.settings.identity import IdentitySettings

ANN = {"principals": {"ann": {"token_env": "ANN_TOKEN"}}}


def parse(**more: Any) -> IdentitySettings:
    return IdentitySettings.model_validate({**ANN, **more})


async def test_a_static_token_needs_no_index(
    monkeypatch: pytest.MonkeyPatch, index_url: str
) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    identifier = Identifier(parse(api_keys=True), ApiKeyStore(IndexStore(index_url)))
    assert (await identifier.identify("Bearer s3cret")).name == "ann"
    with pytest.raises(Unauthenticated):
        await identifier.identify("Bearer other")


async def test_an_api_key_is_refused_while_the_index_is_unavailable(index_url: str) -> None:
    index = IndexStore(index_url)  # it has not been set up
    identifier = Identifier(parse(api_keys=True), ApiKeyStore(index))
    with pytest.raises(IndexUnavailable, match="not been set up"):
        await identifier.identify("Bearer qsql_" + "a" * 43)
    assert "set up" in dict(await index.probe())["index"]
    await index.close()


async def test_an_api_key_names_its_principal(store: IndexStore) -> None:
    keys = ApiKeyStore(store)
    record, key = await keys.create(Principal("bob", ("clerk",)), valid_days=None)
    accepting, other = Identifier(parse(api_keys=True), keys), Identifier(parse())
    found = await accepting.identify(f"bearer {key}")
    assert found == Principal("bob", ("clerk",))
    assert found.access.key == record.id
    for identifier, header in (
        (other, f"Bearer {key}"),
        (accepting, f"Bearer {key}, Bearer {key}"),
        (accepting, f"Basic {key}"),
        (accepting, key),
        (accepting, ""),
    ):
        with pytest.raises(Unauthenticated):
            await identifier.identify(header)
    await keys.revoke(record.id)
    with pytest.raises(Unauthenticated):
        await accepting.identify(f"Bearer {key}")
