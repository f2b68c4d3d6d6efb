"""Folders and files on this machine, and a whole job there."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from serve_app.batch.questions import describe_files
from serve_app.batch.storage import find_files, open_folder


def test_files_of_a_folder(tmp_path: Path) -> None:
    location = str(tmp_path / "folder")
    folder = open_folder(location)
    folder.create()
    assert folder.read("a.json") is None
    assert folder.list_files() == []
    folder.write("a.json", b"1")
    folder.write("a.json", b"22")
    (folder / "inner").create()
    (folder / "inner").write("_b.json", b"3")
    assert folder.read("a.json") == b"22"
    assert [Path(info.path).name for info in folder.list_files()] == ["a.json"]
    assert [info.path for info in find_files(location)[1]] == [f"{folder.path}/a.json"]
    assert [info.path for info in find_files(f"{location}/a.json")[1]] == [f"{folder.path}/a.json"]
    with pytest.raises(SettingsError, match="no files"):
        find_files(f"{location}/inner")
    before = describe_files(location)
    assert before == describe_files(location)
    folder.write("a.json", b"333")
    assert before != describe_files(location)
