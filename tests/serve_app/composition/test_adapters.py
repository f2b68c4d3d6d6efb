"""The packaged adapters: fetched, checked, listed and removed like weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from generation.models import registry
from generation.models.files import sha256_of
from nl2sql.errors import ModelCorrupt, SettingsError
from nl2sql.settings.file import parse_settings
from serve_app.cli.app import app
from serve_app.composition.wiring import Wiring
from tests.generation.gguf_files import ADAPTER, PAIR, write_gguf

NAME = "tiny-sql"


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with one packaged adapter, for the model ``tiny.gguf``."""
    folder = tmp_path / "packaged"
    folder.mkdir()
    file = write_gguf(folder / f"{NAME}.gguf", ADAPTER, PAIR)
    entry = {
        "name": NAME,
        "licence": "ours",
        "adapts": str(tmp_path / "tiny.gguf"),
        "file": file.name,
        "sha256": sha256_of(file),
        "bytes": file.stat().st_size,
        "sources": [{"kind": "folder", "path": "."}],
    }
    (folder / "adapters.yaml").write_text(yaml.safe_dump({"models": [entry]}))
    monkeypatch.setattr(registry, "ADAPTERS", folder)
    registry.load_adapters.cache_clear()
    yield file
    registry.load_adapters.cache_clear()


def build_wiring(tmp_path: Path, **model: object) -> Wiring:
    weights = write_gguf(tmp_path / "tiny.gguf")
    settings = {
        "home": str(tmp_path / "home"),
        "databases": {"shop": {"reader": {"url": "sqlite:///shop.sqlite"}}},
        "model": {"engine": "llama.cpp", "name": str(weights), "max_model_len": 512, **model},
        "serve": {"port": 1},
    }
    return Wiring(parse_settings(settings))


def test_auto_takes_the_adapter_of_the_model(packaged: Path, tmp_path: Path) -> None:
    models = build_wiring(tmp_path).models
    assert models.adapter_name() == NAME
    assert models.find_adapter() is None
    models.fetch_weights()
    folder = models.find_adapter()
    assert folder is not None
    assert folder == models.fetch_adapter()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["sha256"] == {packaged.name: sha256_of(packaged)}
    assert sha256_of(packaged)[:16] in models.name_samples()
    (status,) = models.build_adapter_store().entries()
    assert (status.name, status.present) == (NAME, True)
    assert models.build_adapter_store().remove(NAME)
    assert models.find_adapter() is None
    assert packaged.exists()


def test_none_and_a_path_take_no_packaged_adapter(packaged: Path, tmp_path: Path) -> None:
    without = build_wiring(tmp_path, adapter="none").models
    without.fetch_weights()
    assert (without.adapter_name(), without.fetch_adapter()) == ("", None)
    assert "adapter" not in without.name_samples()
    own = build_wiring(tmp_path, adapter=str(packaged)).models
    own.fetch_weights()
    assert (own.adapter_name(), own.fetch_adapter()) == ("", packaged)


def test_another_model_and_a_remote_one_have_none(packaged: Path, tmp_path: Path) -> None:
    other = build_wiring(tmp_path, name="qwen2.5-coder-1.5b-instruct").models
    assert (other.adapter_name(), other.fetch_adapter()) == ("", None)
    remote = build_wiring(
        tmp_path, engine="openai", served_name="gpt", base_url="http://127.0.0.1:1/v1"
    ).models
    assert (remote.adapter_name(), remote.fetch_adapter()) == ("", None)


def test_a_changed_file_is_refused(packaged: Path, tmp_path: Path) -> None:
    content = bytearray(packaged.read_bytes())
    content[-1] ^= 1
    packaged.write_bytes(content)
    with pytest.raises(ModelCorrupt, match="not the registered file"):
        build_wiring(tmp_path).models.fetch_weights()


def test_an_adapter_that_does_not_fit_its_model_is_told(packaged: Path, tmp_path: Path) -> None:
    write_gguf(packaged, ADAPTER, {**PAIR, "blk.0.attn_q.weight.lora_a": (96, 8)})
    text = registry.ADAPTERS.joinpath("adapters.yaml").read_text()
    (entry,) = yaml.safe_load(text)["models"]
    entry |= {"sha256": sha256_of(packaged), "bytes": packaged.stat().st_size}
    registry.ADAPTERS.joinpath("adapters.yaml").write_text(yaml.safe_dump({"models": [entry]}))
    registry.load_adapters.cache_clear()
    with pytest.raises(SettingsError, match="another shape there"):
        build_wiring(tmp_path).models.fetch_weights()


def test_the_adapter_has_a_calibration_of_its_own(
    packaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def load(choice: str, model: str) -> None:
        asked.append(f"{choice} {Path(model).name}")

    monkeypatch.setattr("serve_app.composition.wiring.load_calibration", load)
    build_wiring(tmp_path).read_calibration()
    build_wiring(tmp_path, adapter="none").read_calibration()
    build_wiring(tmp_path, adapter=str(packaged)).read_calibration()
    assert asked == [f"auto {NAME}", "auto tiny.gguf", "auto tiny.gguf"]


def test_the_commands_for_models_know_it(packaged: Path, tmp_path: Path) -> None:
    config = tmp_path / "quorumsql.yaml"
    settings = build_wiring(tmp_path).settings.model_dump(mode="json", exclude_defaults=True)
    config.write_text(yaml.safe_dump(settings))

    def run(*words: str) -> Any:
        done = CliRunner().invoke(app, ["--config", str(config), "model", *words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def call(*words: str) -> dict[str, bool]:
        run(*words)
        return {each["model"]: each["downloaded"] for each in run("list")}

    assert call("list")[NAME] is False
    # With its model, so that a volume that engines only read has both.
    assert call("pull", str(tmp_path / "tiny.gguf"))[NAME] is True
    assert call("remove", NAME)[NAME] is False
    assert call("pull", NAME)[NAME] is True
