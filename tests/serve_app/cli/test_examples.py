"""``quorumsql examples`` on an SQLite shop: in, listed, out to a file, away and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nl2sql.errors import QuorumError
from serve_app.settings import Settings
from tests.execution.sqlite.shop import build_shop
from tests.serve_app.cli.conftest import run, write_config

LINES = (
    '{"question": "How many orders are there?", "sql": "SELECT count(*) FROM Orders"}\n'
    '{"question": "What is not there?", "sql": "SELECT nothing FROM Orders"}\n'
    '{"question": "Who works here?", "sql": "SELECT name FROM employees", "roles": ["boss"]}\n'
)


@pytest.fixture
def config(tmp_path: Path, demo_settings: Settings, index_url: str) -> Path:
    """Settings of a shop in a file, with ``pairs.jsonl`` beside them."""
    build_shop(tmp_path / "shop.sqlite")
    (tmp_path / "pairs.jsonl").write_text(LINES)
    index = {"connection": {"url": index_url}}
    return write_config(tmp_path, home=str(demo_settings.home), index=index)


def ids(config: Path) -> dict[str, str]:
    listed = run(config, "examples", "list", "shop", "--json")
    assert listed.exit_code == 0, listed.output
    return {load["question"]: load["id"] for load in json.loads(listed.output)}


def test_in_and_out(config: Path) -> None:
    pairs = str(config.parent / "pairs.jsonl")
    first = run(config, "examples", "import", "shop", pairs)
    assert first.exit_code == 0, first.output
    assert "2 stored, 0 already stored, 1 left out" in first.output
    assert "left out, pair 2: What is not there?" in first.output
    assert "2 already stored" in run(config, "examples", "import", "shop", pairs).output

    known = ids(config)
    assert set(known) == {"How many orders are there?", "Who works here?"}
    assert "Who works here?" in run(config, "examples", "list", "shop").output

    # Imported pairs have their own file.
    exam = run(config, "examples", "list", "shop", "--exam", str(config.parent / "exam.jsonl"))
    assert "0 questions added" in exam.output

    one = known["Who works here?"]
    assert run(config, "examples", "remove", "shop", one, answer="n\n").exit_code == 1
    assert ids(config) == known
    removed = run(config, "examples", "remove", "shop", one, answer="y\n")
    assert removed.exit_code == 0, removed.output
    assert set(ids(config)) == {"How many orders are there?"}
    assert (
        run(
            config, "examples", "remove", "shop", known["How many orders are there?"], "--yes"
        ).exit_code
        == 0
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
    with pytest.raises(QuorumError, match=said):
        run(config, "examples", *(argument.format(pairs=pairs) for argument in arguments))
