"""``quorumsql semantics``: what fits the demo, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from execution.postgres.embedded import EmbeddedServer
from nl2sql.errors import SettingsError
from nl2sql.settings import Settings
from serve_app.cli.app import app
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


def run(config: Path, *arguments: str) -> Result:
    called = ["--config", str(config), *arguments]
    return CliRunner().invoke(app, called, env={"COLUMNS": "200"})


def write_config(folder: Path, settings: Settings, file: Path | None) -> Path:
    """Settings of the demo with this file of definitions."""
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
    return config


@pytest.fixture
def settings(demo_settings: Settings, embedded_server: EmbeddedServer) -> Settings:
    """The demo's, on the running embedded server."""
    assert embedded_server is not None
    return demo_settings


def test_definitions_that_fit_are_counted(tmp_path: Path, settings: Settings) -> None:
    config = write_config(tmp_path, settings, DEFINITIONS)
    result = run(config, "semantics", "demo_erp")
    assert (result.exit_code, "20 definitions fit demo_erp." in result.output) == (0, True)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(WRONG, encoding="utf-8")
    result = run(write_config(tmp_path, settings, file), "semantics")
    assert result.exit_code == 1
    text = result.output
    assert "line 3: measures.revenue.expression: there is no table 'invoice'; did you mean" in text
    assert "'finance.invoices'?" in text
    assert "line 7: filters.open.condition: sales.orders has no column 'statu'" in text
    assert "line 5: measures.sleep: the guard refuses it" in text
    assert "line 4: measures.units: the database refuses it: function sum(text)" in text


def test_without_a_file_there_is_nothing_to_check(tmp_path: Path, settings: Settings) -> None:
    result = run(write_config(tmp_path, settings, None), "semantics")
    assert isinstance(result.exception, SettingsError)
    assert "databases.demo_erp.semantics" in result.exception.hint
