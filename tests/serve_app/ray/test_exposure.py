from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nl2sql.errors import SettingsError
from serve_app.operations.background import check_exposure
from serve_app.ray.builder import build_app
from serve_app.ray.starting import start_serve
from serve_app.settings import parse_settings
from tests.serve_app.cli.conftest import write_config

DATABASES = {"shop": {"reader": {"url": "sqlite:///shop.db"}}}
TOKEN = {"principals": {"ann": {"token_env": "ANN_TOKEN"}}}


@pytest.mark.parametrize(
    ("more", "answers"),
    [
        ({}, False),
        ({"serve": {"allow_anonymous": True}}, True),
        ({"identity": TOKEN}, True),
        ({"identity": {"principals": {"ann": {}}}}, False),
        ({"identity": {"api_keys": True}}, True),
        ({"identity": {"jwt": {"issuer": "https://example.com", "audience": "a"}}}, True),
    ],
)
def test_strangers_are_answered_by_a_name_only(more: dict[str, Any], answers: bool) -> None:
    settings = parse_settings({"databases": DATABASES, **more})
    check_exposure(settings, is_exposed=False)
    if answers:
        check_exposure(settings, is_exposed=True)
    else:
        with pytest.raises(SettingsError, match=r"anyone on the network.*token_env"):
            check_exposure(settings, is_exposed=True)


def test_a_service_on_all_addresses_does_not_start() -> None:
    settings = parse_settings({"databases": DATABASES, "serve": {"host": "0.0.0.0"}})
    with pytest.raises(SettingsError, match="anyone on the network"):
        start_serve(settings)


def test_what_serve_builds_may_be_reached_from_anywhere(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="anyone on the network"):
        build_app({"config": str(write_config(tmp_path))})
