"""``quorumsql batch``: what the commands check and print, without Ray."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError, Unavailable
from serve_app.batch.job import find_job
from serve_app.batch.storage import open_folder
from tests.serve_app.cli.conftest import run, write_unreachable


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings of databases that are not there."""
    return write_unreachable(tmp_path, identity={"principals": {"mia": {"token_env": "MIA_TOKEN"}}})


def write_input(config: Path, *rows: object) -> str:
    path = config.parent / "in.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def test_questions_are_stored_before_anything_is_asked(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIA_TOKEN", "mia's")
    given = write_input(config, *({"question": f"Q{number}?"} for number in range(2)))
    output = str(config.parent / "out")
    options = ("--database", "shop", "--k", "3", "--as", "mia", "--rows", "5")
    with pytest.raises(Unavailable, match="quorumsql serve"):
        run(config, "batch", given, output, "--url", "http://127.0.0.1:1", *options)
    job = find_job(open_folder(output))
    assert job is not None
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
    with pytest.raises(SettingsError, match=message):
        run(config, "batch", *arguments)
