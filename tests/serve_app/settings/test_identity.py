"""Who asks: by name on the command line, by token over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.errors import SettingsError, UnknownDatabase
from nl2sql.types import Entitlement, Principal, UsageLimits
from serve_app.settings.identity import IdentitySettings
from tests.fakes import build_settings

IDENTITY: dict[str, Any] = {
    "local": {"roles": ["boss"]},
    "principals": {
        "ann": {"roles": ["clerk"], "attributes": {"regions": [1, 2]}, "token_env": "ANN_TOKEN"},
        "bob": {"roles": ["clerk"]},
    },
}

JWT = {"issuer": "https://example.com", "audience": "a"}


@pytest.fixture
def identity() -> IdentitySettings:
    return build_settings(identity=IDENTITY).identity


def test_the_local_principal_asks_where_nobody_says_who_does(identity: IdentitySettings) -> None:
    assert identity.principal() == identity.principal("local") == Principal("local", ("boss",))


def test_others_are_known_by_name(identity: IdentitySettings) -> None:
    assert identity.principal("ann") == Principal("ann", ("clerk",), (("regions", (1, 2)),))
    with pytest.raises(SettingsError, match="no principal 'eve'"):
        identity.principal("eve")


def test_a_token_belongs_to_one_principal(
    identity: IdentitySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert identity.needs_token
    assert identity.find_by_token("s3cret") is None
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    found = identity.find_by_token("s3cret")
    assert found is not None
    assert found.name == "ann"
    assert identity.find_by_token("other") is None
    assert identity.find_by_token("") is None


def test_a_service_cannot_know_who_has_no_token(
    identity: IdentitySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert identity.read_token("local") == ""
    with pytest.raises(SettingsError, match="bob has no token"):
        identity.read_token("bob")
    with pytest.raises(SettingsError, match="ANN_TOKEN is not set"):
        identity.read_token("ann")
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    assert identity.read_token("ann") == "s3cret"


@pytest.mark.parametrize(
    "change",
    [
        {"local": {"token_env": "X"}},
        {"principals": {"local": {}}},
        {"principal": {}},
        {"principals": {"ann": {"databases": ["none"]}}},
        {"limits": {"rows_per_day": -1}},
        {"jwt": {"audience": "a"}},
        {"jwt": {"issuer": "https://example.com"}},
        {"jwt": {**JWT, "issuer": "http://example.com"}},
        {"jwt": {**JWT, "jwks": "http://example.com/keys"}},
        {"jwt": {**JWT, "jwks": "file:///etc/passwd"}},
    ],
)
def test_what_makes_no_sense_is_an_error(change: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        build_settings(identity=change)


@pytest.mark.parametrize(
    "change",
    [{"api_keys": True}, {"jwt": JWT}, {"principals": {"ann": {"token_env": "ANN_TOKEN"}}}],
    ids=["api_keys", "jwt", "static"],
)
def test_any_kind_of_token_makes_tokens_necessary(change: dict[str, Any]) -> None:
    assert build_settings(identity=change).identity.needs_token
    assert not build_settings(identity={"principals": {"ann": {}}}).identity.needs_token


def test_a_key_of_the_issuer_may_come_from_a_file_or_this_machine() -> None:
    for source in ({"jwks": "keys.json"}, {"jwks": "http://127.0.0.1:1/keys"}):
        jwt = {**JWT, "issuer": "any name", **source}
        assert build_settings(identity={"jwt": jwt}).identity.jwt.is_used


def test_the_nearest_limit_counts() -> None:
    identity = build_settings(
        identity={
            "limits": {"requests_per_minute": 1, "questions_at_once": 2, "rows_per_day": 3},
            "principals": {"ann": {"limits": {"questions_at_once": 4, "rows_per_day": 5}}},
        }
    ).identity
    of_key = Entitlement(limits=UsageLimits(rows_per_day=0))
    for principal, expected in (
        (identity.principal(), UsageLimits(1, 2, None, 3)),
        (identity.principal("ann"), UsageLimits(1, 4, None, 5)),
        (Principal("ann"), UsageLimits(1, 4, None, 5)),
        (Principal("ann", access=of_key), UsageLimits(1, 4, None, 0)),
        (Principal("eve", access=of_key), UsageLimits(1, 2, None, 0)),
    ):
        assert identity.find_limits(principal) == expected


def test_a_principal_may_be_limited_to_some_databases() -> None:
    embedded = {"url": "embedded"}
    database = {"reader": embedded, "indexer": embedded}
    settings = build_settings(
        databases=dict.fromkeys(("shop", "erp", "hr"), database),
        default_database="shop",
        identity={
            "principals": {"ann": {"databases": ["erp"]}, "bob": {"databases": ["hr", "erp"]}}
        },
    )
    ann, bob = settings.identity.principal("ann"), settings.identity.principal("bob")
    assert settings.database_names() == ("shop", "erp", "hr")
    assert settings.database_names(bob) == ("erp", "hr")
    assert settings.database_name(None) == "shop"
    assert settings.database_name(None, ann) == "erp"
    for principal, name in ((ann, "shop"), (bob, None), (bob, "shop")):
        with pytest.raises(UnknownDatabase) as caught:
            settings.database_name(name, principal)
        assert "hr" not in str(caught.value) or principal is bob
