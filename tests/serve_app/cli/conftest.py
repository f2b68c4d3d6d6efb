"""Commands called in this process, and a service that answers one question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from nl2sql.types import ResultSet
from serve_app.cli import main
from tests.fakes import FakeGenerator, build_candidate, build_generated
from tests.serve_app.served import build_app

Call = Callable[..., tuple[int, str, str]]
"""Takes a settings file and arguments; returns exit code, standard output, standard error."""

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


def answer_one(reason: str = "", result: ResultSet = RESULT) -> ASGIApp:
    """A service over fakes that answers one question. With a ``reason`` it refuses."""
    return build_app(
        generator=FakeGenerator(build_generated(build_candidate(SQL)), reason=reason),
        results={SQL: [result, result]},
    )
