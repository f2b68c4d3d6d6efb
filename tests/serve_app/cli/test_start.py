"""Commands start at once: none is imported before it is run. Everything is in the package."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from setuptools import find_packages

from serve_app.cli.app import COMMANDS, load_command, main

ROOT = Path(__file__).parents[3]
# What makes a command slow to start.
HEAVY = (
    "duckdb",
    "fastapi",
    "numpy",
    "pydantic",
    "ray",
    "rich.progress",
    "scipy",
    "sqlglot",
    "torch",
)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_itself(name: str) -> None:
    assert load_command(name).help.partition("\n")[0] == COMMANDS[name][1]


def test_help_imports_nothing_that_is_slow() -> None:
    script = (
        "import sys; from serve_app.cli import main; sys.argv = ['quorumsql', '--help']\n"
        "try: main()\n"
        f"finally: print([each for each in {HEAVY} if each in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Ask a question" in done.stdout
    assert done.stderr.strip() == "[]"


def test_a_client_of_the_service_imports_nothing_that_only_the_service_needs() -> None:
    # Requests are checked here too, by pydantic.
    heavy = set(HEAVY) - {"pydantic", "rich.progress"}
    commands = ", ".join(f"serve_app.cli.{name}" for name in ("ask", "chat", "service"))
    script = f"import sys, {commands}; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"quorumsql {version('quorumsql')}\n")


def test_every_module_is_in_the_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    include = settings["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {package.replace(".", "/") for package in find_packages(ROOT, include=include)}
    tops = {each.removesuffix("*") for each in include}
    modules = {
        path.parent.relative_to(ROOT).as_posix()
        for top in tops
        for path in (ROOT / top).rglob("*.py")
    }
    assert modules == packages
