"""``quorumsql status`` and ``serve`` against a service of fakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import Result

from nl2sql.errors import Unauthenticated
from tests.fakes import build_settings
from tests.serve_app.cli.conftest import run, write_config
from tests.serve_app.http.test_app import FakeProbe
from tests.serve_app.served import build_app, serve

TOKENS = {"principals": {"mia": {"token_env": "MIA_TOKEN"}}}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_config(tmp_path, identity=TOKENS)


def run_status(config: Path, url: str, *options: str) -> Result:
    return run(config, "status", "--url", url, *options)


@pytest.mark.parametrize(("problem", "code", "ready"), [("", 0, "yes"), ("[down]", 1, "no")])
def test_it_shows_parts_and_model(config: Path, problem: str, code: int, ready: str) -> None:
    with serve(build_app(probe=FakeProbe(("index", problem)))) as url:
        result = run_status(config, url)
    assert result.exit_code == code
    lines = result.output.splitlines()
    assert lines[:2] == [f"ready: {ready}", f"index: {problem or 'ok'}"]
    assert "qwen2.5-coder-0.5b-instruct" in result.output


def test_a_token_is_needed_where_principals_have_tokens(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIA_TOKEN", "s3cret")
    with serve(build_app(build_settings(identity=TOKENS))) as url:
        with pytest.raises(Unauthenticated):
            run_status(config, url)
        assert run_status(config, url, "--as", "mia").exit_code == 0


def test_what_to_do_next_fits_the_settings_and_the_way_it_was_started(tmp_path: Path) -> None:
    with serve(build_app()) as url:
        port = int(url.rpartition(":")[2])
        file = write_config(tmp_path, home="home", serve={"port": port})
        shown = run(file, "serve").output
        stopped = run(file, "serve", "--stop").output
    assert f'--config {file} ask "Which tables are there?" --database shop' in shown
    assert "Stop it where it runs." in shown
    assert f"The one at {url} runs in a terminal" in stopped
