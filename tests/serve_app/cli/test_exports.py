"""``quorumsql ask --format``: the rows to a file or to standard output, the rest beside them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from starlette.types import ASGIApp
from typer.testing import CliRunner

from nl2sql.types import ResultSet
from serve_app.cli.app import app
from tests.fakes import FakeGenerator, build_candidate, build_generated
from tests.serve_app.served import build_app, serve

SQL = "SELECT id, name\nFROM customers"
RESULT = ResultSet(
    ("id", "name"), ("int8", "text"), ((1, "=é"), (2, None)), truncated=True, ms=1.0, cut=((0, 1),)
)


@pytest.fixture
def url() -> Iterator[str]:
    """A service that answers one question."""
    with serve(answer_one()) as where:
        yield where


def answer_one(reason: str = "") -> ASGIApp:
    """A service over fakes that answers one question. With a ``reason`` it refuses."""
    return build_app(
        generator=FakeGenerator(build_generated(build_candidate(SQL)), reason=reason),
        results={SQL: [RESULT, RESULT]},
    )


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "quorumsql.yaml"
    embedded = {"url": "embedded"}
    path.write_text(yaml.safe_dump({"databases": {"shop": {"reader": embedded}}}))
    return path


def ask(config: Path, url: str, *options: str) -> tuple[int, bytes, str]:
    """Exit code, standard output, standard error."""
    arguments = ["--config", str(config), "ask", "Who?", "--url", url, *options]
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout_bytes, result.stderr


def test_the_rows_go_to_standard_output_and_the_rest_beside_them(url: str, config: Path) -> None:
    code, output, said = ask(config, url, "--k", "1", "--format", "csv")
    assert code == 0, said
    rows = list(csv.reader(io.StringIO(output.decode(), newline="")))
    assert rows == [["id", "name"], ["1", "=é"], ["2", ""]]
    assert "SELECT id, name\nFROM customers" in said
    assert "confidence 0.2065, no quorum" in said
    assert "There are more rows" in said
    assert "1 cells are cut short" in said


@pytest.mark.parametrize("name", ["csv", "markdown", "jsonl", "parquet", "arrow", "json"])
def test_the_rows_go_to_a_file(name: str, url: str, config: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    code, output, said = ask(config, url, "--format", name, "--output", str(path))
    assert (code, output) == (0, b""), said
    content = path.read_bytes()
    if name == "csv":
        assert content.startswith(b"id,name\r\n1,=\xc3\xa9\r\n")
    elif name == "markdown":
        assert content.startswith(b"| id | name |\n")
    elif name == "jsonl":
        assert json.loads(content.splitlines()[0]) == {"id": 1, "name": "=é"}
    elif name == "json":
        assert json.loads(content)["rows"] == [[1, "=é"], [2, None]]
        assert "candidates" in json.loads(content)["trace"]
    else:
        table = pq.read_table(path) if name == "parquet" else pa.ipc.open_stream(content).read_all()
        assert table.to_pylist() == [{"id": 1, "name": "=é"}, {"id": 2, "name": None}]


def test_formulas_are_defused_when_asked_to(url: str, config: Path) -> None:
    _, output, _ = ask(config, url, "--format", "csv", "--spreadsheet-safe")
    assert b"1,'=\xc3\xa9" in output


def test_the_table_tells_what_is_cut(url: str, config: Path) -> None:
    code, output, _ = ask(config, url)
    assert code == 0
    assert "(there are more) (1 cells cut short)" in " ".join(output.decode().split())


def test_the_table_is_for_the_terminal(url: str, config: Path, tmp_path: Path) -> None:
    code, _, said = ask(config, url, "--output", str(tmp_path / "rows"))
    assert (code, "--format" in said) == (2, True)
    assert not (tmp_path / "rows").exists()


def test_a_question_without_rows_has_an_exit_code_and_a_reason(
    config: Path, tmp_path: Path
) -> None:
    with serve(answer_one("Not about this database.")) as url:
        code, output, said = ask(
            config, url, "--format", "csv", "--output", str(tmp_path / "rows.csv")
        )
    assert (code, output) == (2, b"")
    assert said.strip() == "refused: Not about this database."
    assert not (tmp_path / "rows.csv").exists()
