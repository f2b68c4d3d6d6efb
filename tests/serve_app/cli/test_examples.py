"""``quorumsql examples`` on an SQLite shop: in, listed, out to a file, away and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from nl2sql.errors import QuorumError
from serve_app.cli.app import app
from serve_app.settings import Settings
from tests.execution.sqlite.shop import build_shop

LINES = (
    '{"question": "How many orders are there?", "sql": "SELECT count(*) FROM Orders"}\n'
    '{"question": "What is not there?", "sql": "SELECT nothing FROM Orders"}\n'
    '{"question": "Who works here?", "sql": "SELECT name FROM employees", "roles": ["boss"]}\n'
)


@pytest.fixture
def config(tmp_path: Path, demo_settings: Settings, index_url: str) -> Path:
    """Settings of a shop in a file, with ``pairs.jsonl`` beside them."""
    build_shop(tmp_path / "shop.db")
    (tmp_path / "pairs.jsonl").write_text(LINES)
    value = {
        "home": str(demo_settings.home),
        "index": {"connection": {"url": index_url}},
        "databases": {"shop": {"reader": {"url": "sqlite:///shop.db"}}},
    }
    path = tmp_path / "quorumsql.yaml"
    path.write_text(yaml.safe_dump(value))
    return path


def run(config: Path, *arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(
        app, ["--config", str(config), "examples", *arguments], input=answer, env={"COLUMNS": "200"}
    )


def ids(config: Path) -> dict[str, str]:
    listed = run(config, "list", "shop", "--json")
    assert listed.exit_code == 0, listed.output
    return {load["question"]: load["id"] for load in json.loads(listed.output)}


def test_in_and_out(config: Path) -> None:
    pairs = str(config.parent / "pairs.jsonl")
    first = run(config, "import", "shop", pairs)
    assert first.exit_code == 0, first.output
    assert "2 stored, 0 already stored, 1 left out" in first.output
    assert "left out, pair 2: What is not there?" in first.output
    assert "2 already stored" in run(config, "import", "shop", pairs).output

    known = ids(config)
    assert set(known) == {"How many orders are there?", "Who works here?"}
    assert "Who works here?" in run(config, "list", "shop").output

    # Imported pairs have their own file.
    exam = run(config, "list", "shop", "--exam", str(config.parent / "exam.jsonl"))
    assert "0 questions added" in exam.output

    one = known["Who works here?"]
    assert run(config, "remove", "shop", one, answer="n\n").exit_code == 1
    assert ids(config) == known
    removed = run(config, "remove", "shop", one, answer="y\n")
    assert removed.exit_code == 0, removed.output
    assert set(ids(config)) == {"How many orders are there?"}
    assert (
        run(config, "remove", "shop", known["How many orders are there?"], "--yes").exit_code == 0
    )
    assert ids(config) == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "nowhere", "{pairs}"), "nowhere"),
        (("import", "shop", "none.jsonl"), "none.jsonl"),
        (("remove", "shop", "0123"), "no example 0123"),
        (("import", "shop", "{pairs}", "--as", "bob"), "no principal 'bob'"),
    ],
)
def test_what_is_wrong_is_named(config: Path, arguments: tuple[str, ...], said: str) -> None:
    pairs = str(config.parent / "pairs.jsonl")
    result = run(config, *(argument.format(pairs=pairs) for argument in arguments))
    assert isinstance(result.exception, QuorumError)
    assert said in str(result.exception)
