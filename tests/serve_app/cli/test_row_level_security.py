"""``policy apply`` on the embedded demo, and what ``doctor`` says of it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
import yaml
from typer.testing import CliRunner

from nl2sql.errors import PolicyError
from nl2sql.settings import Settings, load_settings
from serve_app.cli.app import app
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks.databases import check_functions, check_row_security
from serve_app.operations.row_level_security import (
    check_row_level_security,
    find_reader,
    is_applied_but_unused,
    owner_url,
)
from tests.conftest import ROOT


@pytest.fixture
def config(tmp_path: Path, demo_settings: Settings, wiring: Wiring) -> Path:
    """Settings of the tests' own server, with the demo's policy and an SQLite file beside it."""
    sqlite = tmp_path / "shop.sqlite"
    sqlite.touch()
    policy = str(ROOT / "data" / "demo_erp" / "policy.yaml")
    demo = {
        "demo": True,
        "reader": {"url": "embedded"},
        "schemas": list(wiring.settings.databases["demo_erp"].schemas),
        "policy": policy,
        "row_level_security": True,
    }
    path = tmp_path / "quorumsql.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "home": str(demo_settings.home),
                "default_database": "demo_erp",
                "identity": {"local": {"roles": ["analyst"]}},
                "databases": {
                    "demo_erp": demo,
                    "shop": {"reader": {"url": f"sqlite:///{sqlite}"}, "policy": policy},
                },
            }
        )
    )
    return path


def run(config: Path, *arguments: str, answer: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(app, ["--config", str(config), "policy", *arguments], input=answer)
    if isinstance(done.exception, Exception) and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def test_it_is_applied_checked_and_removed(config: Path, wiring: Wiring) -> None:
    secured = Wiring(load_settings(config), wiring.socket_folder)
    assert check_row_security(secured, "demo_erp").remedy == "quorumsql policy apply demo_erp"

    code, output = run(config, "apply", "--dry-run")
    assert code == 0
    assert "+ role quorumsql_demo_erp_analyst" in output
    assert "this was a dry run" in output
    code, output = run(config, "apply", answer="n\n")
    assert code == 1
    assert check_row_security(secured, "demo_erp").status == "failed"
    try:
        code, output = run(config, "apply", answer="y\n")
        assert code == 0
        assert "0 removed" in output
        assert check_row_security(secured, "demo_erp").status == "ok"
        assert "nothing to change" in run(config, "apply", "--yes")[1]
    finally:
        code, output = run(config, "apply", "--remove", "--yes")
    assert code == 0
    assert "Now set databases.demo_erp.row_level_security to false" in output
    assert check_row_level_security(secured, "demo_erp").endswith("never applied to it.")


def test_the_script_goes_to_psql_as_it_is(config: Path) -> None:
    code, output = run(config, "apply", "--sql")
    assert code == 0
    assert output.startswith("-- The row policies of demo_erp")
    assert output.endswith("COMMIT;\n")
    assert max(map(len, output.splitlines())) > 200
    code, output = run(config, "apply", "--sql", "--remove")
    assert code == 0
    assert "DROP POLICY" in output


@pytest.mark.parametrize("arguments", [("--sql",), ("--yes",), ("--remove",)])
def test_only_postgresql_has_one(config: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(PolicyError, match="not a PostgreSQL database"):
        run(config, "apply", *arguments, "shop")


def test_behind_it_the_index_and_the_doctor_go_on(config: Path, wiring: Wiring) -> None:
    secured = Wiring(load_settings(config), wiring.socket_folder)
    before = secured.source("demo_erp").read_catalog()
    with secured.source("demo_erp") as reader:
        values = [each.qualified for each in reader.survey(before.tables, most=100, longest=50)]
    assert len(values) > 50
    run(config, "apply", "--yes")
    try:
        assert secured.source("demo_erp").read_catalog() == before
        with secured.source("demo_erp") as reader:
            found = reader.survey(before.tables, most=100, longest=50)
        assert [each.qualified for each in found] == values
        assert not is_applied_but_unused(secured, "demo_erp")
        demo = secured.settings.databases["demo_erp"].model_copy(
            update={"row_level_security": False}
        )
        off = secured.settings.model_copy(update={"databases": {"demo_erp": demo}})
        assert is_applied_but_unused(Wiring(off, wiring.socket_folder), "demo_erp")
        code, output = run(config, "test")
        assert code == 0
        assert "42501" not in output
    finally:
        run(config, "apply", "--remove", "--yes")
    assert secured.source("demo_erp").read_catalog() == before


def test_the_doctor_prints_what_takes_the_functions_away(config: Path, wiring: Wiring) -> None:
    secured = Wiring(load_settings(config), wiring.socket_folder)
    (check,) = check_functions(secured, "demo_erp")
    assert check.status == "warning"
    assert "text as SQL (17), settings (2), sleep (3)" in check.message
    assert (
        check.remedy == "`quorumsql doctor --functions demo_erp` prints REVOKE statements for them."
    )
    script = (
        CliRunner()
        .invoke(app, ["--config", str(config), "doctor", "--functions", "demo_erp"])
        .output
    )
    assert "REVOKE EXECUTE ON FUNCTION pg_catalog.ts_stat(text, text) FROM PUBLIC;\n" in script
    with psycopg.connect(owner_url(secured, "demo_erp")) as connection:
        connection.execute(script.encode())
        login = find_reader(secured, "demo_erp")
        allowed = connection.execute(
            "SELECT has_function_privilege(%s, 'pg_catalog.ts_stat(text)', 'EXECUTE')", (login,)
        ).fetchone()
        connection.rollback()
    assert allowed == (False,)
