"""Which rights principals have on the page."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.settings import Settings
from nl2sql.types import Principal
from serve_app.service.rights import may_review, reads_policy

_PAGE = {
    "review_roles": ["analyst"],
    "operate_roles": ["operator"],
}


def _build(**sections: Any) -> Settings:
    reader = {"reader": {"url": "sqlite:///shop.sqlite"}}
    return Settings.model_validate({"databases": {"shop": reader}, **sections})


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ((), (False, False)),
        (("Analyst", "clerk"), (False, False)),
        (("clerk", "analyst"), (True, False)),
        (("clerk", "operator"), (False, True)),
    ],
)
def test_roles_give_rights(roles: tuple[str, ...], expected: tuple[bool, bool]) -> None:
    settings = _build(identity={"api_keys": True}, page=_PAGE)
    principal = Principal("mia", roles)
    assert (may_review(settings, principal), reads_policy(settings, principal)) == expected


def test_without_tokens_the_local_principal_reviews() -> None:
    settings = _build(identity={"local": {"roles": ["clerk"]}}, page=_PAGE)
    assert may_review(settings, settings.identity.principal())


def test_without_roles_in_the_settings_nobody_reviews() -> None:
    settings = _build(identity={"principals": {"mia": {"token_env": "MIA", "roles": ["boss"]}}})
    assert not may_review(settings, settings.identity.principal("mia"))
