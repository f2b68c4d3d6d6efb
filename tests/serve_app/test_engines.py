"""Which addresses of a model's server are taken, and what an engine must be told."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.errors import SettingsError
from nl2sql.settings.model import check_base_url
from serve_app.composition.wiring import Wiring
from tests.fakes import build_settings


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8000",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "https://me:key@host/v1",
        "https://host/v1?key=secret",
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError, match=r"base_url|[Pp]ort"):
        check_base_url(url)


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        ({"engine": "openai", "base_url": "http://h/v1"}, "name"),
        ({"engine": "openai", "name": "m"}, "base_url"),
        ({"engine": "openai", "name": "m", "base_url": "h"}, "http"),
        ({"engine": "anthropic"}, "name"),
    ],
)
def test_an_engine_without_its_server_is_told(model: dict[str, Any], missing: str) -> None:
    with pytest.raises(SettingsError, match=missing):
        build_settings(model=model)


async def test_the_wiring_opens_the_engine_that_is_configured() -> None:
    for engine in ("openai", "anthropic"):
        model = {"engine": engine, "name": "m", "base_url": "http://127.0.0.1:1/v1"}
        model |= {"send": "rows"}
        wiring = Wiring(build_settings(model=model))
        assert wiring.models.model_name() == "m"
        opened = wiring.models.open_engine()
        assert type(opened).__name__.lower() == f"{engine}engine"
        await opened.close()
