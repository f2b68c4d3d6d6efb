"""``quorumsql ask``: a table, or the rows to a file or to standard output, the rest beside them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from nl2sql.types import ResultSet
from serve_app.cli.app import app
from serve_app.cli.safe_text import UNSAFE
from tests.serve_app.cli.conftest import answer_one
from tests.serve_app.cli.test_safe_text import ATTACKS
from tests.serve_app.served import serve


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "quorumsql.yaml"
    embedded = {"url": "embedded"}
    path.write_text(yaml.safe_dump({"databases": {"shop": {"reader": embedded}}}))
    return path


def ask(config: Path, url: str, *options: str) -> tuple[int, bytes, str]:
    """Exit code, standard output, standard error."""
    arguments = ["--config", str(config), "ask", "Who?", "--url", url, "--k", "1", *options]
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout_bytes, result.stderr


def test_the_rows_go_to_standard_output_and_the_rest_beside_them(config: Path) -> None:
    with serve(answer_one()) as url:
        code, output, said = ask(config, url, "--format", "csv", "--spreadsheet-safe")
    assert code == 0, said
    rows = list(csv.reader(io.StringIO(output.decode("utf-8-sig"), newline="")))
    assert rows == [["id", "name"], ["1", "'=é"], ["2", ""]]
    for told in (
        "SELECT id, name\nFROM customers",
        "confidence 0.2065, no quorum",
        "There are more rows",
        "1 cells are cut short",
    ):
        assert told in said


def test_the_rows_go_to_a_file(config: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    with serve(answer_one()) as url:
        code, output, said = ask(config, url, "--format", "markdown", "--output", str(path))
    assert (code, output) == (0, b""), said
    assert "| 2 | NULL |" in path.read_text()


def test_the_table_tells_what_is_cut_and_is_for_the_terminal(config: Path, tmp_path: Path) -> None:
    with serve(answer_one()) as url:
        code, output, _ = ask(config, url)
        assert code == 0
        assert "(there are more) (1 cells cut short)" in " ".join(output.decode().split())
        code, _, said = ask(config, url, "--output", str(tmp_path / "rows"))
    assert (code, "--format" in said) == (2, True)
    assert not (tmp_path / "rows").exists()


def test_a_question_without_rows_has_an_exit_code_and_a_reason(
    config: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    with serve(answer_one("Not about this database.")) as url:
        code, output, said = ask(config, url, "--format", "csv", "--output", str(rows))
    assert (code, output) == (2, b"")
    assert said.strip() == "refused: Not about this database."
    assert not rows.exists()


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_cells_are_safe_on_the_way_to_the_terminal(config: Path, options: list[str]) -> None:
    evil = "".join(attack for name, attack in ATTACKS.items() if name != "surrogate")
    result = ResultSet(("id", evil), ("int8", "text"), ((1, evil),), truncated=False, ms=1.0)
    with serve(answer_one(result=result)) as url:
        code, output, said = ask(config, url, *options)
    assert code == 0, said
    assert UNSAFE.search(output.decode() + said) is None
