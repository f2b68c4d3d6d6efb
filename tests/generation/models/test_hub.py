"""Snapshots through the real ``huggingface_hub``, against a hub on localhost that serves a dict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from generation.models.forms import SAFETENSORS
from generation.models.hub import HubClient
from generation.models.store import ModelStore
from nl2sql.errors import ModelCorrupt, ModelUnreachable

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WEIGHTS = b"safetensors" * 500


class LocalHub:
    """``files``: what it serves; ``lies``: bytes served in place of what is announced."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.lies: dict[str, bytes] = {}
        self.history: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def do_HEAD(self) -> None:
                hub.answer(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = urlsplit(request.path).path
        self.history.append(f"{request.command} {path}")
        name = path.rpartition("/")[2]
        if path == f"/api/models/org/coder/tree/{COMMIT}":
            body, code = json.dumps(self.list_tree()).encode(), 200
        elif path.startswith("/api/models/org/coder"):
            body, code = json.dumps(self.describe()).encode(), 200
        elif path.startswith(f"/org/coder/resolve/{COMMIT}/") and name in self.files:
            body, code = self.lies.get(name, self.files[name]), 200
        else:
            body, code = b"{}", 404
        request.send_response(code)
        if code == 404:
            request.send_header("X-Error-Code", "RepoNotFound")
        request.send_header("Content-Length", str(len(body)))
        request.send_header("X-Repo-Commit", COMMIT)
        request.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(body)

    def describe(self) -> dict[str, object]:
        files = [
            {**file, "rfilename": file["path"], "blobId": file["oid"]} for file in self.list_tree()
        ]
        return {"id": "org/coder", "sha": COMMIT, "siblings": files}

    def list_tree(self) -> list[dict[str, object]]:
        files = []
        for name, content in self.files.items():
            blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
            file: dict[str, object] = {
                "type": "file",
                "path": name,
                "size": len(content),
                "oid": blob,
            }
            if name.endswith(".safetensors"):
                sha256 = hashlib.sha256(content).hexdigest()
                lfs = {"sha256": sha256, "oid": sha256, "size": len(content), "pointerSize": 130}
                file["lfs"] = lfs
            files.append(file)
        return files


@pytest.fixture
def hub() -> Iterator[LocalHub]:
    hub = LocalHub()
    hub.files = {
        "config.json": b'{"torch_dtype": "bfloat16"}',
        "model.safetensors": WEIGHTS,
        "tokenizer.json": b"{}",
        "modeling_evil.py": b"import os",
        "pytorch_model.bin": b"pickle",
        "README.md": b"# hello",
    }
    yield hub
    hub.server.shutdown()
    hub.server.server_close()


def build_store(tmp_path: Path, endpoint: str) -> ModelStore:
    return ModelStore(tmp_path / "cache", SAFETENSORS, registry={}, hub=HubClient(endpoint))


def test_a_snapshot_takes_weights_and_settings_but_no_code(tmp_path: Path, hub: LocalHub) -> None:
    store = build_store(tmp_path, hub.endpoint)
    folder = store.pull("org/coder")
    assert folder == tmp_path / "cache" / "org--coder"
    names = "config.json manifest.json model.safetensors tokenizer.json".split()
    assert sorted(path.name for path in folder.iterdir()) == names
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["revision"], manifest["dtype"]) == (COMMIT, "bfloat16")
    assert manifest["sha256"]["model.safetensors"] == hashlib.sha256(WEIGHTS).hexdigest()
    assert manifest["sha256"]["tokenizer.json"].startswith("git:")
    assert [status.name for status in store.entries()] == ["org/coder"]
    assert store.remove("org/coder")
    assert store.entries() == ()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_is_not_as_announced_is_refused(
    tmp_path: Path, hub: LocalHub, name: str
) -> None:
    hub.lies[name] = b"x" * len(hub.files[name])
    with pytest.raises(ModelCorrupt, match=f"{name} is wrong"):
        build_store(tmp_path, hub.endpoint).pull("org/coder")
    assert not (tmp_path / "cache" / "org--coder").exists()


def test_after_a_break_only_the_missing_files_are_fetched(tmp_path: Path, hub: LocalHub) -> None:
    hub.lies["tokenizer.json"] = b"!!"
    with pytest.raises(ModelCorrupt):
        build_store(tmp_path, hub.endpoint).pull("org/coder")
    hub.lies.clear()
    hub.history.clear()
    build_store(tmp_path, hub.endpoint).pull("org/coder")
    assert [line for line in hub.history if line.startswith("GET /org")] == [
        f"GET /org/coder/resolve/{COMMIT}/tokenizer.json"
    ]


def test_a_repository_of_pickles_is_refused(tmp_path: Path, hub: LocalHub) -> None:
    del hub.files["model.safetensors"]
    with pytest.raises(ModelUnreachable, match=r"no config\.json with \*\.safetensors"):
        build_store(tmp_path, hub.endpoint).pull("org/coder")


def test_an_unknown_repository_or_a_silent_hub_is_an_unreachable_model(
    tmp_path: Path, hub: LocalHub
) -> None:
    with pytest.raises(ModelUnreachable, match="hub org/other: RepositoryNotFoundError"):
        build_store(tmp_path, hub.endpoint).pull("org/other")
    with pytest.raises(ModelUnreachable, match="hub org/coder: ConnectError"):
        build_store(tmp_path, "http://127.0.0.1:9").pull("org/coder")
