"""Which rights principals have on the page."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.settings import Settings
from nl2sql.types import Principal
from serve_app.service.rights import EVERYTHING, Rights, find_rights

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
        ((), Rights(review=False, operate=False)),
        (("Analyst", "clerk"), Rights(review=False, operate=False)),
        (("clerk", "analyst"), Rights(review=True, operate=False)),
        (("clerk", "operator"), Rights(review=False, operate=True)),
        (("analyst", "operator"), EVERYTHING),
    ],
)
def test_roles_give_rights(roles: tuple[str, ...], expected: Rights) -> None:
    settings = _build(identity={"api_keys": True}, page=_PAGE)
    assert find_rights(settings, Principal("mia", roles)) == expected


def test_without_tokens_the_local_principal_may_do_everything() -> None:
    settings = _build(identity={"local": {"roles": ["clerk"]}}, page=_PAGE)
    assert find_rights(settings, settings.identity.principal()) == EVERYTHING


def test_without_roles_in_the_settings_nobody_reviews_or_operates() -> None:
    settings = _build(identity={"principals": {"mia": {"token_env": "MIA", "roles": ["boss"]}}})
    rights = find_rights(settings, settings.identity.principal("mia"))
    assert rights == Rights(review=False, operate=False)
