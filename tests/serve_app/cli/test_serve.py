"""What ``quorumsql serve --background`` tells of an error while the service starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from execution.postgres.embedded import EmbeddedServer
from serve_app.settings import Settings
from tests.execution.sqlite.shop import write
from tests.retrieval.index_store.conftest import create_index
from tests.serve_app.cli.conftest import Call, write_config


def test_why_ray_does_not_start_is_told_by_the_command_that_waits(
    tmp_path: Path, demo_settings: Settings, embedded_server: EmbeddedServer
) -> None:
    create_index(embedded_server, "serve_index")
    write(tmp_path / "shop.sqlite", "CREATE TABLE customers (id INTEGER PRIMARY KEY)")
    config = write_config(
        tmp_path,
        home=str(demo_settings.home),
        index={"connection": {"url": "embedded:serve_index"}},
        model={"engine": "openai", "base_url": "http://127.0.0.1:1/v1", "name": "m"},
        serve={"port": 8198, "dashboard": False},
    )
    done = subprocess.run(
        [sys.executable, "-m", "serve_app.cli", "-c", str(config), "serve", "--background"],
        env={**os.environ, "RAY_ADDRESS": "nowhere"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, "Index of shop" in done.stdout) == (1, True)
    told = " ".join(done.stderr.split())
    assert told.startswith("error: Ray did not start: Invalid address format: nowhere → Close")
    assert (demo_settings.home / "serve.log").read_text() == ""


def test_a_service_of_other_settings_is_named(tmp_path: Path, call: Call) -> None:
    config = write_config(tmp_path, home=str(tmp_path), serve={"port": 8197})
    sleep = [sys.executable, "-c", "import time; time.sleep(60)", "other.yaml", "serve"]
    with subprocess.Popen([*sleep, "--background"]) as running:
        (tmp_path / "serve.pid").write_text(str(running.pid))
        try:
            told = call(config, "serve", "--background")[2]
            assert "not ready at http://127.0.0.1:8197" in told
            assert "other.yaml serve --background" in " ".join(told.split())
        finally:
            running.kill()
