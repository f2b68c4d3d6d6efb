"""``quorumsql serve --stop`` leaves no embedded PostgreSQL behind that nobody uses."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from serve_app.cli.app import app
from tests.execution.postgres.test_embedded import User, find_postmaster

CONFIG = """
home: {home}
databases: {{shop: {{reader: {{url: "embedded:shop"}}}}}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "quorumsql.yaml"
    path.write_text(CONFIG.format(home=tmp_path / "home"))
    return path


def stop(config: Path) -> str:
    done = CliRunner().invoke(app, ["--config", str(config), "serve", "--stop"])
    assert done.exit_code == 0, done.output
    return done.output


def test_what_a_killed_service_left_running_is_stopped(config: Path) -> None:
    folder = config.parent / "home" / "postgres"
    assert "No service was running" in stop(config)
    service, other = User(folder), User(folder)
    service.kill()
    stop(config)
    assert find_postmaster(folder) is not None  # another command uses it
    other.kill()
    stop(config)
    assert find_postmaster(folder) is None
