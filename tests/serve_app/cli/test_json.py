"""``--json``: every command has it, writes one document, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from serve_app.cli.app import COMMANDS, load_command
from serve_app.cli.output import JSON_OPTION, Output, prints
from serve_app.cli.terminal import CONSOLE
from tests.serve_app.cli.conftest import Call, answer_one, write_unreachable
from tests.serve_app.served import serve

WITHOUT_JSON = {
    "chat": "it is a conversation; `ask --json --session` is the same for scripts",
    "mcp": "its standard output is a protocol of its own",
}
"""The commands without ``--json``, and why."""


def walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """All commands that can be run, by their words."""
    inside = getattr(command, "commands", None)
    if inside is None:
        yield path, command
    for name, subcommand in (inside or {}).items():
        yield from walk(f"{path} {name}", subcommand)


EVERY = {path: found for name in COMMANDS for path, found in walk(name, load_command(name))}


def test_every_command_has_json_or_a_reason_why_not() -> None:
    without = {
        path
        for path, command in EVERY.items()
        if not any(JSON_OPTION in parameter.opts for parameter in command.params)
    }
    assert without == set(WITHOUT_JSON)


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Path]:
    """Settings of a service that runs, over databases that do not."""
    with serve(answer_one()) as url:
        yield write_unreachable(tmp_path, serve={"port": int(url.rpartition(":")[2])})


@pytest.mark.parametrize(
    ("command", "code", "keys"),
    [
        (["ask", "How many?", "--k", "1"], 0, {"outcome", "sql", "rows", "confidence"}),
        (["status"], 0, {"ready", "parts"}),
        (["serve", "--stop"], 0, {"stopped"}),
        (["doctor"], 1, {"ok", "checks"}),
    ],
)
def test_standard_output_is_one_document(
    settings: Path, command: list[str], code: int, keys: set[str], call: Call
) -> None:
    found, out, error = call(settings, *command, "--json")
    assert (found, error) == (code, "")
    assert json.loads(out).keys() >= keys


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["index", "status"], 1, "index"),
        (["keys", "list", "--nonsense"], 2, "--nonsense"),
        (["forget"], 2, "--yes"),
        (["ask", "Why?", "--database", "none"], 1, "'none'"),
    ],
)
def test_an_error_leaves_standard_output_empty(
    settings: Path, command: list[str], code: int, said: str, call: Call
) -> None:
    found, out, error = call(settings, *command, "--json")
    assert (found, out) == (code, ""), error
    assert said in error


def test_an_outcome_that_is_not_hoped_for_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()

    @app.command()
    @prints
    def command() -> Output:
        CONSOLE.print("progress")
        return Output({"ok": False}, lambda: None, 3)

    assert app(["--json"], standalone_mode=False) == 3
    assert capsys.readouterr() == ('{"ok": false}\n', "")
    assert not CONSOLE.quiet
