"""``quorumsql keys`` and ``quorumsql audit``, over a real index."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError, UnknownDatabase
from nl2sql.types import Principal, UsageLimits
from retrieval.index_store.audit_store import AuditStore
from retrieval.index_store.credentials import ApiKey, ApiKeyStore
from retrieval.index_store.store import IndexStore
from tests.fakes import AUDIT_ENTRY
from tests.serve_app.cli.conftest import run, write_config

IDENTITY = {
    "api_keys": True,
    "principals": {"ann": {"roles": ["clerk"], "attributes": {"region_ids": [1, 2]}}},
}


@pytest.fixture
def config(index_url: str, tmp_path: Path) -> Path:
    index = {"connection": {"url": index_url}}
    return write_config(tmp_path, index=index, identity=IDENTITY, audit={"enabled": True})


def make(config: Path, *arguments: str) -> str:
    result = run(config, "keys", "create", *arguments)
    assert result.exit_code == 0, result.output
    key: str = result.stdout.strip()
    return key


def find(index_url: str, key: str) -> ApiKey | None:
    async def look() -> ApiKey | None:
        store = IndexStore(index_url)
        try:
            return await ApiKeyStore(store).find(key)
        finally:
            await store.close()

    return asyncio.run(look())


def test_a_key_is_made_shown_once_and_found(config: Path, index_url: str) -> None:
    arguments = ["--role", "boss", "--attribute", "regions=[3, 4]", "--attribute", "country=DE"]
    limits = ["--requests-per-minute", "5", "--rows-per-day", "0", "--expires-days", "0"]
    key = make(config, "bob", *arguments, "--database", "shop", *limits)
    found = find(index_url, key)
    assert found is not None
    assert found.principal == Principal("bob", ("boss",), (("regions", (3, 4)), ("country", "DE")))
    assert found.principal.access.databases == ("shop",)
    assert found.principal.access.limits == UsageLimits(requests_per_minute=5, rows_per_day=0)
    assert found.expires_at is None
    listed = run(config, "keys", "list", "--json")
    assert key not in listed.output
    [shown] = json.loads(listed.stdout)
    assert (shown["id"], shown["state"], shown["expires_at"]) == (found.id, "active", None)
    assert "bob" in run(config, "keys", "list").output


def test_a_principal_of_the_settings_keeps_its_roles(config: Path, index_url: str) -> None:
    found = find(index_url, make(config, "ann"))
    assert found is not None
    assert found.principal == Principal("ann", ("clerk",), (("region_ids", (1, 2)),))
    assert found.expires_at is not None
    assert 89 < (found.expires_at - datetime.now(UTC)).total_seconds() / 86_400 < 90


def test_a_key_is_revoked(config: Path, index_url: str) -> None:
    key = make(config, "ann")
    record = find(index_url, key)
    assert record is not None
    assert run(config, "keys", "revoke", record.id).exit_code == 0
    assert find(index_url, key) is None
    with pytest.raises(SettingsError):
        run(config, "keys", "revoke", record.id)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["local"], SettingsError),
        (["bob", "--database", "none"], UnknownDatabase),
        (["bob", "--attribute", "x=null"], SettingsError),
    ],
)
def test_what_makes_no_sense_makes_no_key(
    config: Path, arguments: list[str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        run(config, "keys", "create", *arguments)


@pytest.mark.parametrize("arguments", [["--attribute", "x"], ["--expires-days", "-1"]])
def test_what_cannot_be_read_makes_no_key(config: Path, arguments: list[str]) -> None:
    result = run(config, "keys", "create", "bob", *arguments)
    assert (result.exit_code, "qsql_" in result.output) == (2, False)


def test_the_audit_log_is_printed(config: Path, index_url: str) -> None:
    async def add() -> None:
        store = IndexStore(index_url)
        await store.prepare()
        await AuditStore(store).add(AUDIT_ENTRY)
        await store.close()

    asyncio.run(add())
    [printed] = json.loads(run(config, "audit", "--json").stdout)
    assert (printed["question"], printed["key"]) == ("How many?", "key_1")
    assert printed["asked_at"] == "2026-05-01T12:00:00+00:00"
    assert "How many?" in run(config, "audit").stdout
    for arguments in (["--as", "bob"], ["--days", "1"]):
        assert json.loads(run(config, "audit", "--json", *arguments).stdout) == []
    config.write_text(config.read_text().replace("enabled: true", "enabled: false"))
    with pytest.raises(SettingsError):
        run(config, "audit")
