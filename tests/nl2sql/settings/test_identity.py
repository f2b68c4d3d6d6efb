"""Who asks: by name on the command line, by token over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.errors import SettingsError
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Principal
from tests.fakes import build_settings

IDENTITY: dict[str, Any] = {
    "local": {"roles": ["boss"]},
    "principals": {
        "ann": {"roles": ["clerk"], "attributes": {"regions": [1, 2]}, "token_env": "ANN_TOKEN"},
        "bob": {"roles": ["clerk"]},
    },
}


@pytest.fixture
def identity() -> IdentitySettings:
    return build_settings(identity=IDENTITY).identity


def test_the_local_principal_asks_where_nobody_says_who_does(identity: IdentitySettings) -> None:
    assert identity.principal() == identity.principal("local") == Principal("local", ("boss",))


def test_others_are_known_by_name(identity: IdentitySettings) -> None:
    assert identity.principal("ann") == Principal("ann", ("clerk",), (("regions", (1, 2)),))
    with pytest.raises(SettingsError, match="no principal 'eve'"):
        identity.principal("eve")


def test_a_token_belongs_to_one_principal(identity: IdentitySettings) -> None:
    environ = {"ANN_TOKEN": "s3cret", "": "s3cret"}
    assert identity.needs_token
    found = identity.find_by_token("s3cret", environ)
    assert found is not None
    assert found.name == "ann"
    assert identity.find_by_token("other", environ) is None
    assert identity.find_by_token("", environ) is None
    assert identity.find_by_token("s3cret", {}) is None


def test_a_service_cannot_know_who_has_no_token(identity: IdentitySettings) -> None:
    assert identity.read_token("local", {}) == ""
    with pytest.raises(SettingsError, match="bob has no token"):
        identity.read_token("bob", {})
    assert identity.read_token("ann", {"ANN_TOKEN": "s3cret"}) == "s3cret"
    with pytest.raises(SettingsError, match="ANN_TOKEN is not set"):
        identity.read_token("ann", {})


@pytest.mark.parametrize(
    "change",
    [{"local": {"token_env": "X"}}, {"principals": {"local": {}}}, {"principal": {}}],
    ids=["token_of_local", "name_taken", "unknown_key"],
)
def test_what_makes_no_sense_is_an_error(change: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        build_settings(identity=change)
