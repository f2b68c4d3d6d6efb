"""``quorumsql batch``: what the commands check and print, without Ray."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from nl2sql.errors import SettingsError, Unavailable
from serve_app.batch.job import Job, find_job
from serve_app.batch.storage import open_folder
from serve_app.cli.app import app

URL = ("--url", "http://127.0.0.1:1")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings of databases that are not there."""
    connection = {"url": "postgresql://nobody@127.0.0.1:1/none"}
    path = tmp_path / "quorumsql.yaml"
    settings = {
        "home": "home",
        "databases": {"shop": {"reader": connection, "indexer": connection}},
        "index": {"connection": connection},
        "identity": {"principals": {"mia": {"token_env": "MIA_TOKEN"}}},
    }
    path.write_text(yaml.safe_dump(settings))
    return path


def call(config: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["--config", str(config), "batch", *arguments])


def write_input(config: Path, *rows: object) -> str:
    path = config.parent / "in.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def start(config: Path, *arguments: str) -> tuple[Result, Job]:
    """The first attempt at a job of two questions, which ends because no service answers."""
    rows = [{"question": f"Q{number}?"} for number in range(2)]
    output = str(config.parent / "out")
    result = call(config, write_input(config, *rows), output, *URL, *arguments)
    job = find_job(open_folder(output))
    assert job is not None
    return result, job


def test_questions_are_stored_before_anything_is_asked(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIA_TOKEN", "mia's")
    result, job = start(config, "--database", "shop", "--k", "3", "--as", "mia", "--rows", "5")
    assert isinstance(result.exception, Unavailable)
    assert "quorumsql serve" in str(result.exception)
    assert (job.stored.total, job.read_questions(0)[0].database) == (2, "shop")
    assert (job.spec.principal, job.spec.k, job.spec.kept_rows) == ("mia", 3, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl", "out"], "none.jsonl"),
        (["in.jsonl", "out", "--as", "nobody"], "There is no principal 'nobody'"),
        (["in.jsonl", "out", "--as", "mia"], "MIA_TOKEN"),
    ],
)
def test_what_is_wrong_is_said(
    config: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(config.parent)
    write_input(config, {"question": "Q?"})
    result = call(config, *arguments)
    assert isinstance(result.exception, SettingsError)
    assert message in str(result.exception)
