"""``quorumsql semantics`` on the demo: what fits, what does not, and what examples suggest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from execution.postgres.embedded import EmbeddedServer
from nl2sql.settings import Settings
from tests.conftest import ROOT

DEFINITIONS = ROOT / "data" / "demo_erp" / "semantics.yaml"
WRONG = """\
version: 1
measures:
  revenue: sum(invoice.net_amt)
  units: sum(products.name)
  sleep: sum(orders.amt) where pg_sleep(orders.amt) is null
filters:
  open: orders.statu = 'OPN'
"""


def run(folder: Path, settings: Settings, file: Path | None, *arguments: str) -> tuple[int, str]:
    """Runs the command with this file of definitions."""
    database: dict[str, Any] = {
        "demo": True,
        "reader": {"url": "embedded"},
        "indexer": {"url": "embedded"},
        "schemas": list(settings.databases["demo_erp"].schemas),
    }
    if file is not None:
        database["semantics"] = str(file)
    value = {
        "home": str(settings.home),
        "default_database": "demo_erp",
        "databases": {"demo_erp": database},
    }
    config = folder / "quorumsql.yaml"
    config.write_text(yaml.safe_dump(value), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "serve_app.cli", "--config", str(config), "semantics", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
        env={"COLUMNS": "200", "PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def settings(demo_settings: Settings, embedded_server: EmbeddedServer) -> Settings:
    """The demo's, on the running embedded server."""
    assert embedded_server is not None
    return demo_settings


def test_definitions_that_fit_are_counted(tmp_path: Path, settings: Settings) -> None:
    code, text = run(tmp_path, settings, DEFINITIONS, "check", "--database", "demo_erp")
    assert (code, "20 definitions fit demo_erp." in text) == (0, True), text


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(WRONG, encoding="utf-8")
    code, text = run(tmp_path, settings, file, "check")
    assert code == 1
    assert "line 3: measures.revenue.expression: there is no table 'invoice'; did you mean" in text
    assert "'finance.invoices'?" in text
    assert "line 7: filters.open.condition: sales.orders has no column 'statu'" in text
    assert "line 5: measures.sleep: the guard refuses it" in text
    assert "line 4: measures.units: the database refuses it: function sum(text)" in text


def test_without_a_file_there_is_nothing_to_check(tmp_path: Path, settings: Settings) -> None:
    code, text = run(tmp_path, settings, None, "check")
    assert (code, "databases.demo_erp.semantics" in text) == (1, True), text


def test_what_examples_suggest_is_a_file_of_definitions(tmp_path: Path, settings: Settings) -> None:
    code, text = run(tmp_path, settings, DEFINITIONS, "suggest")
    assert code == 0, text
    assert "suggestions from" in text.splitlines()[0]
