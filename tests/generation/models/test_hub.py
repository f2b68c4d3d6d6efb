"""Snapshots through the real ``huggingface_hub``, against a hub on localhost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from generation.models.forms import SAFETENSORS
from generation.models.hub import HubClient
from generation.models.store import ModelStore
from nl2sql.errors import ModelCorrupt, ModelUnreachable
from tests.generation.engines.loopback import Loopback, Reply, serve

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WEIGHTS = b"safetensors" * 500


FILES = {
    "config.json": b'{"torch_dtype": "bfloat16"}',
    "model.safetensors": WEIGHTS,
    "tokenizer.json": b"{}",
    "modeling_evil.py": b"import os",
    "pytorch_model.bin": b"pickle",
    "README.md": b"# hello",
}


def announce(name: str, content: bytes) -> dict[str, Any]:
    """What the hub tells of a file."""
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    file: dict[str, Any] = {"type": "file", "path": name, "rfilename": name, "size": len(content)}
    file |= {"oid": blob, "blobId": blob}
    if name.endswith(".safetensors"):
        sha256 = hashlib.sha256(content).hexdigest()
        lfs = {"sha256": sha256, "oid": sha256, "size": len(content), "pointerSize": 130}
        file["lfs"] = lfs
    return file


def publish(
    hub: Loopback, lies: Mapping[str, bytes] = MappingProxyType({}), *, without: str = ""
) -> None:
    """Has the hub announce the files; ``lies`` are served in place of what is announced."""
    files = {name: content for name, content in FILES.items() if name != without}
    tree = [announce(name, content) for name, content in files.items()]
    about = Reply({"id": "org/coder", "sha": COMMIT, "siblings": tree})
    models = "/api/models/org"
    hub.answers[f"{models}/coder"] = hub.answers[f"{models}/coder/revision/main"] = [about]
    hub.answers[f"{models}/coder/tree/{COMMIT}"] = [Reply(tree)]
    unknown = Reply({}, 404, (("X-Error-Code", "RepoNotFound"),))
    hub.answers[f"{models}/other"] = hub.answers[f"{models}/other/revision/main"] = [unknown]
    for name, content in files.items():
        body = lies.get(name, content)
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        served = Reply(body, headers=(("X-Repo-Commit", COMMIT), ("ETag", tag)))
        hub.answers[f"/org/coder/resolve/{COMMIT}/{name}"] = [served]


@pytest.fixture
def hub() -> Iterator[Loopback]:
    with serve() as hub:
        publish(hub)
        yield hub


def build_store(tmp_path: Path, endpoint: str) -> ModelStore:
    return ModelStore(tmp_path / "cache", SAFETENSORS, registry={}, hub=HubClient(endpoint))


def test_a_snapshot_takes_weights_and_settings_but_no_code(tmp_path: Path, hub: Loopback) -> None:
    store = build_store(tmp_path, hub.url)
    folder = store.pull("org/coder")
    assert folder == tmp_path / "cache" / "org--coder"
    names = "config.json manifest.json model.safetensors tokenizer.json".split()
    assert sorted(path.name for path in folder.iterdir()) == names
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["revision"] == COMMIT
    assert [status.name for status in store.entries()] == ["org/coder"]
    assert store.remove("org/coder")
    assert store.entries() == ()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_is_not_as_announced_is_refused(
    tmp_path: Path, hub: Loopback, name: str
) -> None:
    publish(hub, {name: b"x" * len(FILES[name])})
    with pytest.raises(ModelCorrupt, match=f"{name} is wrong"):
        build_store(tmp_path, hub.url).pull("org/coder")
    assert not (tmp_path / "cache" / "org--coder").exists()


def test_after_a_break_only_the_missing_files_are_fetched(tmp_path: Path, hub: Loopback) -> None:
    publish(hub, {"tokenizer.json": b"!!"})
    with pytest.raises(ModelCorrupt):
        build_store(tmp_path, hub.url).pull("org/coder")
    publish(hub)
    hub.asked.clear()
    build_store(tmp_path, hub.url).pull("org/coder")
    files = [each.path for each in hub.asked if each.method == "GET" and "/resolve/" in each.path]
    assert files == [f"/org/coder/resolve/{COMMIT}/tokenizer.json"]


def test_a_repository_of_pickles_is_refused(tmp_path: Path, hub: Loopback) -> None:
    publish(hub, without="model.safetensors")
    with pytest.raises(ModelUnreachable, match=r"no config\.json with \*\.safetensors"):
        build_store(tmp_path, hub.url).pull("org/coder")


def test_an_unknown_repository_or_a_silent_hub_is_an_unreachable_model(
    tmp_path: Path, hub: Loopback
) -> None:
    with pytest.raises(ModelUnreachable, match="hub org/other: RepositoryNotFoundError"):
        build_store(tmp_path, hub.url).pull("org/other")
    with pytest.raises(ModelUnreachable, match="hub org/coder: ConnectError"):
        build_store(tmp_path, "http://127.0.0.1:9").pull("org/coder")
