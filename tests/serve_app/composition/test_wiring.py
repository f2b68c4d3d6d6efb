"""What travels to replicas, and which real part stands behind each database."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from generation.models.registry import load_embedder, load_registry
from nl2sql.errors import ModelCorrupt, SettingsError
from nl2sql.settings import ModelSettings
from nl2sql.types import GuardedQuery, Principal, ResultSet
from quorumsql.contract import QueryRequest
from retrieval.embedding.embedder import Embedder, find_installed_weights
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks.run import run_checks
from serve_app.settings import load_settings, parse_settings
from tests.execution.duckdb.shop import build_shop
from tests.fakes import FakeCatalogs
from tests.generation.models.test_adapters import write_adapter
from tests.generation.openvino import write_folder

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


def test_a_file_of_definitions_is_read_once_for_its_database_and_assistants(tmp_path: Path) -> None:
    for name in ("shop", "own"):
        (tmp_path / f"{name}.yaml").write_text("version: 1\n")
    shop = {"reader": {"url": "embedded"}, "semantics": str(tmp_path / "shop.yaml")}
    assistants = {
        "desk": {"database": "shop"},
        "own": {"database": "shop", "semantics": str(tmp_path / "own.yaml")},
    }
    databases = {"shop": shop, "bare": {"reader": {"url": "embedded"}}}
    wiring = Wiring(parse_settings({"databases": databases, "assistants": assistants}))
    files = wiring.read_definitions(["shop", "bare"])
    assert files.keys() == {"shop", "desk", "own"}
    assert files["shop"] is files["desk"] is not files["own"]
    assert not wiring.read_definitions(["bare"])


def test_the_embedder_that_is_not_installed_is_found_where_it_was_fetched(tmp_path: Path) -> None:
    entry = load_embedder()
    assert entry.file is not None
    wiring = Wiring(SETTINGS.model_copy(update={"home": tmp_path}))
    downloads = wiring.settings.home / "models" / "downloads"
    downloads.mkdir(parents=True)
    (downloads / entry.file).symlink_to(find_installed_weights())
    store = wiring.models.build_embedder_store()
    assert store.find(entry.name) is None
    (weights,) = store.pull(entry.name).glob("*.safetensors")
    assert store.find(entry.name) == weights.parent
    embedder = Embedder(find_weights=lambda: weights)
    assert embedder.embed(["x"]).shape == (1, 384)
    assert wiring.models.fetch_embedder() == find_installed_weights()


async def test_a_duckdb_file_is_read_guarded_and_asked_through_the_wiring(tmp_path: Path) -> None:
    catalog = build_shop(tmp_path / "shop.duckdb")
    (tmp_path / "more.yaml").write_text("functions: [printf]")
    reader = {"url": "duckdb:///shop.duckdb"}
    (tmp_path / "quorumsql.yaml").write_text(
        json.dumps(
            {
                "databases": {
                    "shop": {"reader": reader, "allowlist": "more.yaml"},
                    "staff": {"reader": reader, "schemas": ["staff"]},
                }
            }
        )
    )
    wiring = Wiring(load_settings(tmp_path / "quorumsql.yaml"))
    read = wiring.source("shop").read_catalog()
    assert {table.qualified for table in catalog.tables} < {
        table.qualified for table in read.tables
    }
    assert {table.schema for table in wiring.source("staff").read_catalog().tables} == {"staff"}
    executor = wiring.build_executor()
    guard = wiring.build_guard(FakeCatalogs(read))
    # A function of the database's own allowlist passes both the guard and the reader.
    query = await guard.guard("shop", "SELECT printf('%d', id) FROM Orders", Principal("tester"))
    assert isinstance(query, GuardedQuery), query
    result = await executor.execute(query, 2)
    await executor.close()
    assert isinstance(result, ResultSet), result
    assert result.rows == (("1",), ("2",))


def build_wiring(model: dict[str, object]) -> Wiring:
    databases = {"shop": {"reader": {"url": "sqlite:///shop.sqlite"}}}
    # A port at which no service runs: beside one, the memory for the weights is not checked.
    return Wiring(parse_settings({"databases": databases, "model": model, "serve": {"port": 1}}))


def test_weights_are_checked_before_anything_starts(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    model: dict[str, object] = {"engine": "openvino", "name": str(folder), "max_model_len": 2048}
    assert build_wiring(model).models.fetch_weights() == folder
    with pytest.raises(SettingsError, match="trained for"):
        build_wiring({**model, "max_model_len": 4096}).models.fetch_weights()
    (folder / "openvino_model.bin").unlink()
    with pytest.raises(ModelCorrupt, match="cannot be read"):
        build_wiring(model).models.fetch_weights()
    check = next(
        check for check in run_checks(build_wiring(model).settings) if check.name == "weights"
    )
    assert (check.status, "cannot be read" in check.message) == ("failed", True)


def test_an_adapter_is_checked_before_anything_starts(tmp_path: Path) -> None:
    folder, fits, other = write_folder(tmp_path), tmp_path / "fits", tmp_path / "other"
    write_adapter(fits)
    write_adapter(other, layer=96)

    def fetch(engine: str, adapter: Path) -> str:
        model = {"engine": engine, "name": str(folder), "max_model_len": 2048}
        models = build_wiring({**model, "adapter": str(adapter)}).models
        models.fetch_weights()
        return models.name_samples()

    assert "with adapter" in fetch("vllm", fits)
    with pytest.raises(SettingsError, match="made for another model"):
        fetch("vllm", other)
    with pytest.raises(SettingsError, match="holds no adapter"):
        fetch("vllm", tmp_path)
    with pytest.raises(SettingsError, match="OpenVINO cannot use"):
        fetch("openvino", fits)


def test_the_model_is_resolved_once_for_all_replicas(tmp_path: Path) -> None:
    """A replica without a GPU would choose another model, and so another calibration."""
    settings = SETTINGS.model_copy(update={"home": tmp_path})
    wiring = Wiring(settings).resolve_model(on_gpu=False)
    assert wiring.settings.model.engine == "openvino"
    assert wiring.models.model_name() in load_registry()
    named = SETTINGS.model_copy(update={"model": ModelSettings(engine="vllm")})
    on_gpu = Wiring(named).resolve_model(on_gpu=True)
    assert on_gpu.models.model_name() == "qwen2.5-coder-7b-instruct"
    assert pickle.loads(pickle.dumps(on_gpu)).models.model_name() == "qwen2.5-coder-7b-instruct"
