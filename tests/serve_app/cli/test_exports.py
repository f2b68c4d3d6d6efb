"""``quorumsql ask``: a table, or the rows to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.serve_app.cli.conftest import answer_one, run, write_config
from tests.serve_app.served import serve


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_config(tmp_path)


def ask(config: Path, url: str, *options: str) -> tuple[int, bytes, str]:
    """Exit code, standard output, standard error."""
    result = run(config, "ask", "Who?", "--url", url, "--k", "1", *options)
    return result.exit_code, result.stdout_bytes, result.stderr


def test_the_rows_go_to_a_file(config: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    with serve(answer_one()) as url:
        code, output, said = ask(config, url, "--output", str(path), "--json")
    assert code == 0, said
    assert path.read_text().splitlines() == ["id,name", "1,=é", "2,"]
    assert json.loads(output) == {
        "file": str(path),
        "sql": "SELECT id, name\nFROM customers",
        "confidence": 0.9933,
        "quorum": False,
        "truncated": True,
        "cut_cells": 1,
        "notes": "",
    }


def test_the_table_tells_what_is_cut(config: Path) -> None:
    with serve(answer_one()) as url:
        code, output, _ = ask(config, url)
    assert code == 0
    assert "(there are more) (1 cells cut short)" in " ".join(output.decode().split())


def test_without_rows_there_is_a_reason_and_no_file(config: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    with serve(answer_one("Not about this database.")) as url:
        code, output, _ = ask(config, url, "--output", str(rows))
    assert code == 2
    assert "reason: Not about this database." in output.decode()
    assert not rows.exists()


def test_an_ending_that_is_no_format_is_refused(config: Path) -> None:
    code, _, said = ask(config, "http://127.0.0.1:9", "--output", "rows.txt")
    assert code == 2
    assert ".xlsx" in said
