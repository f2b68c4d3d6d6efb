"""What is written of versions and machine."""

from __future__ import annotations

import platform
import socket
import subprocess
from pathlib import Path

from evaluation.runs.environment import collect_versions, describe_machine, find_revision


def test_versions_name_what_figures_depend_on() -> None:
    versions = collect_versions()
    assert versions["python"] == platform.python_version()
    assert {"quorumsql", "sqlglot", "openvino-genai", "sqlite-library"} <= set(versions)


def test_the_machine_is_described_and_not_named() -> None:
    machine = describe_machine()
    assert int(machine["cores"]) >= 1
    assert socket.gethostname() not in " ".join(machine.values())


def test_the_revision_tells_of_changes(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.com")
        subprocess.run(
            ("git", *identity, "-C", str(tmp_path), *arguments), check=True, capture_output=True
        )

    git("init")
    file = tmp_path / "file"
    file.write_text("1")
    git("add", "file")
    git("commit", "-m", "first")
    clean = find_revision(tmp_path)
    assert len(clean) == 12
    file.write_text("2")
    assert find_revision(tmp_path) == f"{clean}+changes"


def test_outside_git_there_is_no_revision(tmp_path: Path) -> None:
    assert find_revision(tmp_path) == ""
