"""Settings files, commands called in this process, and a service that answers one question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.types import ASGIApp
from typer.testing import CliRunner, Result

from nl2sql.types import ResultSet
from serve_app.cli import main
from serve_app.cli.app import app
from tests.fakes import FakeGenerator, build_candidate, build_generated
from tests.serve_app.served import build_app

Call = Callable[..., tuple[int, str, str]]
"""Takes a settings file and arguments; returns exit code, standard output, standard error."""

NOWHERE = {"url": "postgresql://nobody@127.0.0.1:1/none"}
"""A connection at which nobody listens."""

SQL = "SELECT id, name\nFROM customers"
RESULT = ResultSet(
    ("id", "name"), ("int8", "text"), ((1, "=é"), (2, None)), truncated=True, ms=1.0, cut=((0, 1),)
)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """The command line as ``main`` runs it, with errors as users read them."""

    def run(config: Path, *arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["--config", str(config), *arguments])
        shown = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, shown.out, shown.err

    return run


def write_config(folder: Path, **sections: Any) -> Path:
    """A settings file; unless ``databases`` are named, of ``shop.sqlite`` beside it."""
    path = folder / "quorumsql.yaml"
    shop = {"reader": {"url": "sqlite:///shop.sqlite"}}
    path.write_text(yaml.safe_dump({"databases": {"shop": shop}, **sections}))
    return path


def write_unreachable(folder: Path, **sections: Any) -> Path:
    """A settings file of databases and an index at which nobody listens."""
    return write_config(
        folder,
        home="home",
        databases={"shop": {"reader": NOWHERE, "indexer": NOWHERE}},
        index={"connection": NOWHERE},
        **sections,
    )


def run(config: Path, *arguments: str | Path, answer: str = "") -> Result:
    """A command as it ends; its errors are raised."""
    return CliRunner().invoke(
        app,
        ["--config", str(config), *map(str, arguments)],
        input=answer,
        env={"COLUMNS": "200"},
        catch_exceptions=False,
    )


def answer_one(reason: str = "") -> ASGIApp:
    """A service over fakes that answers one question. With a ``reason`` it refuses."""
    return build_app(
        generator=FakeGenerator(build_generated(build_candidate(SQL)), reason=reason),
        results={SQL: [RESULT, RESULT]},
    )
