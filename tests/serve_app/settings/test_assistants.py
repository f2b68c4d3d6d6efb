"""``assistants``: what is refused, and who may ask which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nl2sql.errors import SettingsError, UnknownDatabase
from nl2sql.types import Entitlement, Principal
from serve_app.settings import Settings
from tests.fakes import build_settings

DATABASE = {
    "reader": {"url": "sqlite:///shop.sqlite"},
    "description": "The shop.",
    "semantics": "shop.yaml",
    "today": "2025-06-30",
}


def build(**assistants: Any) -> Settings:
    return build_settings(databases={"shop": DATABASE}, assistants=assistants)


@pytest.mark.parametrize(
    ("name", "section", "said"),
    [
        ("desk", {"database": "shp"}, "assistants.desk.database 'shp' is not under databases"),
        ("shop", {"database": "shop"}, "assistants.shop: a database has that name"),
        ("desk", {"database": "shop", "table": []}, "unknown key; did you mean 'tables'"),
        ("desk", {"tables": ["*"]}, "assistants.desk.database: Field required"),
        (
            "desk",
            {"database": "shop", "instructions": "x" * 1340},
            "assistants.desk.instructions: 1,340 characters; at most 1,000 are allowed. Keep what",
        ),
        (
            "desk",
            {"database": "shop", "description": "All \x1b[2Jorders"},
            "assistants.desk.description': leave the control character out",
        ),
        ("de\u202esk", {"database": "shop"}, r"assistants.de\\u202esk': leave the control"),
    ],
)
def test_a_wrong_assistant_is_told_what_to_do(
    name: str, section: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        build(**{name: section})


def test_an_assistant_has_the_settings_of_its_database_but_for_its_own() -> None:
    settings = build(
        desk={"database": "shop", "description": "Orders only.", "semantics": "desk.yaml"},
        plain={"database": "shop"},
    )
    known = settings.by_name
    assert list(known) == ["shop", "desk", "plain"]
    assert known["plain"] == settings.databases["shop"]
    assert known["desk"].description == "Orders only."
    assert known["desk"].semantics == Path("desk.yaml")
    assert known["desk"].today == known["shop"].today
    assert [settings.source_database(name) for name in known] == ["shop", "shop", "shop"]


def test_who_may_ask_a_database_may_ask_its_assistants_and_not_the_other_way_round() -> None:
    settings = build_settings(
        databases={"shop": DATABASE, "erp": DATABASE},
        assistants={"desk": {"database": "shop"}, "books": {"database": "erp"}},
        identity={"principals": {"ann": {"databases": ["desk"]}}},
    )

    def list_for(*databases: str) -> tuple[str, ...]:
        return settings.database_names(Principal("eve", access=Entitlement(databases=databases)))

    assert list_for() == ("shop", "erp", "desk", "books")
    assert list_for("shop") == ("shop", "desk")
    assert list_for("desk") == ("desk",)
    ann = settings.identity.principal("ann")
    assert settings.database_name(None, ann) == "desk"
    with pytest.raises(UnknownDatabase, match=r"'shop'.* Known: desk"):
        settings.database_name("shop", ann)


def test_a_request_without_a_name_still_means_the_only_database() -> None:
    assert build(desk={"database": "shop"}).database_name(None) == "shop"
    chosen = build_settings(
        databases={"shop": DATABASE},
        assistants={"desk": {"database": "shop"}},
        default_database="desk",
    )
    assert chosen.database_name(None) == "desk"
