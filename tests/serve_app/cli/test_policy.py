"""``quorumsql policy`` on the demo: what fits, what does not, and what one principal sees."""

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

POLICY = ROOT / "data" / "demo_erp" / "policy.yaml"
MIA = {"roles": ["department_member"], "attributes": {"department_id": 3}}


@pytest.fixture
def config(tmp_path: Path, demo_settings: Settings, embedded_server: EmbeddedServer) -> Path:
    """The demo's settings with its policy and one principal."""
    assert embedded_server is not None
    schemas = list(demo_settings.databases["demo_erp"].schemas)
    value: dict[str, Any] = {
        "home": str(demo_settings.home),
        "default_database": "demo_erp",
        "databases": {
            "demo_erp": {
                "demo": True,
                "reader": {"url": "embedded"},
                "indexer": {"url": "embedded"},
                "schemas": schemas,
                "policy": str(POLICY),
            },
            "bare": {"reader": {"url": "embedded:demo_erp"}},
        },
        "identity": {"principals": {"mia": MIA, "eve": {"roles": ["nobody"]}}},
    }
    path = tmp_path / "quorumsql.yaml"
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    return path


def run(config: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "serve_app.cli", "--config", str(config), "policy", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
        env={"COLUMNS": "200", "PATH": "/usr/bin:/bin", "HOME": str(config.parent)},
    )
    return done.returncode, done.stdout + done.stderr


def test_a_policy_that_fits_is_counted(config: Path) -> None:
    code, text = run(config, "check")
    assert code == 0, text
    assert "The policy fits demo_erp" in text
    assert "department_member" in text


def test_a_policy_that_does_not_fit_names_what_is_wrong(config: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(POLICY.read_text().replace("- hr.regions", "- hr.regoins"), encoding="utf-8")
    config.write_text(config.read_text().replace(str(POLICY), str(wrong)), encoding="utf-8")
    code, text = run(config, "check")
    assert code == 1
    assert "there is no table hr.regoins" in text


def test_paths_of_inheritance_are_shown(config: Path) -> None:
    code, text = run(config, "check", "--role", "department_member")
    assert code == 0, text
    assert "over (ticket_id) → support.tickets(agent_id) → hr.employees" in text
    assert "salary (null)" in text
    assert "payslips" not in text


def test_a_role_that_is_not_there_is_named(config: Path) -> None:
    code, text = run(config, "check", "--role", "boss")
    assert code == 1
    assert "Known: analyst" in text


def test_a_query_is_tried_as_somebody(config: Path) -> None:
    sql = "SELECT count(*) AS n, max(salary) AS most FROM employees"
    code, text = run(config, "test", "--as", "mia", "--sql", sql)
    assert code == 0, text
    assert "$1 = 3" in text
    assert "only rows of hr.employees" in text
    code, text = run(config, "test", "--as", "mia", "--sql", "SELECT 1 FROM payslips")
    assert code == 2
    assert "not_permitted" in text


def test_the_rows_of_every_table_are_counted(config: Path) -> None:
    code, text = run(config, "test", "--as", "mia")
    assert code == 0, text
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "." in line}
    mine, all_ = (int(count.replace(",", "")) for count in lines["hr.employees"])
    assert 0 < mine < all_


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("test", "--as", "eve"), "has none of the roles"),
        (("test", "--as", "bob"), "no principal 'bob'"),
        (("check", "bare"), "has no policy"),
    ],
    ids=["no_role", "nobody", "no_policy"],
)
def test_what_cannot_be_shown_says_why(config: Path, arguments: tuple[str, ...], said: str) -> None:
    code, text = run(config, *arguments)
    assert code == 1
    assert said in text
