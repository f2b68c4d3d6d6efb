"""What travels to replicas: it survives pickle and carries no secret."""

from __future__ import annotations

import pickle

import pytest

from nl2sql.errors import SettingsError
from nl2sql.settings import parse_settings
from serve_app.api import QueryRequest
from serve_app.wiring import Wiring

SETTINGS = parse_settings(
    {
        "databases": {
            "shop": {
                "reader": {"url": "postgresql://r@db/shop", "password_env": "SHOP_PASSWORD"},
                "indexer": {"url": "embedded"},
            }
        }
    }
)


def test_the_wiring_and_a_request_survive_pickle() -> None:
    for value in (Wiring(SETTINGS, "/run"), QueryRequest(question="How many?", k=2)):
        assert pickle.loads(pickle.dumps(value)) == value


def test_a_password_is_read_where_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    wiring = Wiring(SETTINGS, "/run")
    monkeypatch.delenv("SHOP_PASSWORD", raising=False)
    with pytest.raises(SettingsError, match="SHOP_PASSWORD"):
        wiring.reader_url("shop")
    monkeypatch.setenv("SHOP_PASSWORD", "s3cret/@")
    assert wiring.reader_url("shop") == "postgresql://r:s3cret%2F%40@db/shop"
    assert b"s3cret" not in pickle.dumps(wiring)


def test_embedded_connections_differ_by_role() -> None:
    wiring = Wiring(SETTINGS, "/run/pg")
    assert wiring.indexer_url("shop") == "postgresql://quorumsql_indexer@/shop?host=%2Frun%2Fpg"
    assert wiring.index_url() == "postgresql://quorumsql_indexer@/quorumsql?host=%2Frun%2Fpg"
