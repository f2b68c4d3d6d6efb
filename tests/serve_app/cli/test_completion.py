"""Completion by the shell: the right words, without importing a command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from data.benchmarks.load import DEMOS
from generation.models.registry import load_registry
from serve_app.cli.app import COMMANDS
from serve_app.cli.completion.description import FILE
from serve_app.cli.completion.names import list_names
from serve_app.cli.reference import render_completion
from tests.conftest import ROOT
from tests.serve_app.cli.test_start import HEAVY

PROGRAM = "from serve_app.cli import main; import sys; sys.argv = ['quorumsql']; main()"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "quorumsql.yaml"
    principals = {"ann": {"roles": ["sales"]}, "bob": {"roles": ["sales", "hr"]}, "a b": {}}
    databases: dict[str, dict[str, str]] = {"shop": {}, "sales": {}, "evil\x1b[2J": {}, "$(id)": {}}
    value = {"databases": databases, "identity": {"principals": principals}}
    path.write_text(yaml.safe_dump(value, sort_keys=False))
    return path


def complete(words: str, config: Path, shell: str = "bash") -> list[str]:
    """What the shell is told when Tab is pressed behind these words."""
    line = f"quorumsql --config {config} {words}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=config.parent,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{ROOT}:{ROOT / 'client'}",
            "_QUORUMSQL_COMPLETE": f"complete_{shell}",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split(" ")) - 1),
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


def test_what_is_known_of_the_commands_is_up_to_date() -> None:
    """Stale? ``python -m serve_app.cli.reference`` writes it."""
    assert FILE.read_text(encoding="utf-8") == render_completion()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sess", ["sessions"]),
        ("index ", ["build", "status", "diff", "drop"]),
        ("status --j", ["--json"]),
        ("ask --database s", ["shop", "sales"]),
        ("index build shop ", ["shop", "sales"]),
        ("ask --as ", ["ann", "bob"]),
        ("keys create ann --role ", ["sales", "hr"]),
        ("ask --format p", ["parquet"]),
        ("eval run ", list(DEMOS)),
        ("model pull ", [*load_registry()]),
        ("eval report ", []),
    ],
)
def test_words_options_and_names_are_completed(
    words: str, expected: list[str], config: Path
) -> None:
    assert complete(words, config) == expected


def test_each_command_can_be_completed(config: Path) -> None:
    assert complete("", config) == list(COMMANDS)


def test_zsh_and_fish_are_told_the_same_with_help(config: Path) -> None:
    (found,) = complete("sess", config, "fish")
    assert found == f"sessions\t{COMMANDS['sessions'].summary}"
    assert "sessions" in "".join(complete("sess", config, "zsh"))
    assert complete("ask --database sh", config, "fish") == ["shop"]


def test_a_wrong_or_missing_file_completes_no_names(tmp_path: Path) -> None:
    for text in ("databases: [", "databases: 5", "- 1", "identity: {principals: [1]}"):
        (tmp_path / "wrong.yaml").write_text(text)
        for kind in ("databases", "principals", "roles"):
            assert list_names(kind, tmp_path / "wrong.yaml") == []
    assert list_names("databases", tmp_path / "none.yaml") == []


def test_completion_imports_no_command(config: Path) -> None:
    # Typer reads values by pydantic.
    heavy = sorted(set(HEAVY) - {"pydantic", "rich.progress"})
    script = (
        "import atexit, sys\n"
        f"found = lambda: [each for each in {heavy} if each in sys.modules]\n"
        f"atexit.register(lambda: print(found(), file=sys.stderr))\n{PROGRAM}"
    )
    line = f"quorumsql --config {config} index build "
    environment = {**os.environ, "_QUORUMSQL_COMPLETE": "complete_bash", "COMP_WORDS": line}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**environment, "COMP_CWORD": str(len(line.split(" ")) - 1)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == "[]"
    assert done.stdout.split() == ["shop", "sales"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_by_the_script_that_is_installed(config: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "quorumsql"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = [{str(ROOT)!r}]\n"
        "from serve_app.cli import main\nmain()\n"
    )
    program.chmod(0o755)
    script = f"""
        eval "$(_QUORUMSQL_COMPLETE=source_bash quorumsql)"
        COMP_WORDS=(quorumsql --config {config} ask --database sh) COMP_CWORD=5
        $(complete -p quorumsql | sed 's/.*-F \\([^ ]*\\).*/\\1/') quorumsql
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={"PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "shop", done.stderr
