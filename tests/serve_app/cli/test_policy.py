"""``quorumsql policy`` on the demo: what fits, what a principal sees, and row-level security."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from nl2sql.errors import PolicyError, QuorumError
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks.databases import check_policy
from serve_app.operations.row_level_security import is_applied_but_unused
from serve_app.settings import Settings, load_settings
from tests.conftest import ROOT
from tests.serve_app.cli.conftest import NOWHERE, run, write_config

POLICY = ROOT / "data" / "demo_erp" / "policy.yaml"
MIA = {"roles": ["department_member"], "attributes": {"department_id": 3}}


@pytest.fixture
def config(tmp_path: Path, demo_settings: Settings, wiring: Wiring) -> Path:
    """Settings of the tests' own server, with the demo's policy and other databases beside it."""
    sqlite = tmp_path / "shop.sqlite"
    sqlite.touch()
    (tmp_path / "more.yaml").write_text("functions: [factorial]")
    demo = {
        "demo": True,
        "reader": {"url": "embedded"},
        "schemas": list(wiring.settings.databases["demo_erp"].schemas),
        "policy": str(POLICY),
        "allowlist": "more.yaml",
    }
    return write_config(
        tmp_path,
        home=str(demo_settings.home),
        default_database="demo_erp",
        identity={
            "local": {"roles": ["analyst"]},
            "principals": {"mia": MIA, "eve": {"roles": ["nobody"]}},
        },
        assistants={"staff": {"database": "demo_erp", "tables": ["hr.employees"]}},
        databases={
            "demo_erp": demo,
            "bare": {"reader": {"url": "embedded:demo_erp"}},
            "shop": {"reader": {"url": f"sqlite:///{sqlite}"}, "policy": str(POLICY)},
        },
    )


@pytest.fixture
def secured_config(config: Path) -> Path:
    """The same, with row-level security."""
    value = yaml.safe_load(config.read_text())
    value["databases"]["demo_erp"]["row_level_security"] = True
    config.write_text(yaml.safe_dump(value))
    return config


def policy(config: Path, *arguments: str, answer: str = "") -> tuple[int, str]:
    done = run(config, "policy", *arguments, answer=answer)
    return done.exit_code, done.output


def test_a_policy_that_fits_is_counted_and_its_paths_are_shown(config: Path) -> None:
    code, text = policy(config, "check")
    assert code == 0, text
    assert "The policy fits demo_erp" in text
    code, text = policy(config, "check", "--role", "department_member")
    assert code == 0, text
    assert "over (ticket_id) → support.tickets(agent_id) → hr.employees" in text
    assert re.search(r"hr\.employees .* salary", text)
    assert "payslips" not in text


def test_a_column_that_shows_a_withheld_one_is_listed_with_it(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.execute(
            "CREATE TABLE staff"
            " (name text, pay int, wage int, tax int AS (pay / 5), net int AS (wage))"
        )
    role = {
        "tables": {"visible": "*"},
        "rows": "all",
        "hidden_columns": ["main.staff.pay"],
        "masked_columns": ["main.staff.wage"],
    }
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump({"version": 1, "database": "shop", "roles": {"clerk": role}}))
    shop = {"reader": {"url": f"sqlite:///{tmp_path}/shop.sqlite"}, "policy": str(file)}
    config = write_config(tmp_path, databases={"shop": shop}, index={"connection": NOWHERE})
    code, text = policy(config, "check", "--role", "clerk", "--json")
    (table,) = json.loads(text)["tables"]
    assert (code, table["hidden_columns"]) == (0, ["pay", "tax (shows main.staff.pay)"])
    assert table["masked_columns"] == ["net (shows main.staff.wage)", "wage"]


def test_a_policy_that_does_not_fit_names_what_is_wrong(config: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(POLICY.read_text().replace("- hr.regions", "- hr.regoins"), encoding="utf-8")
    config.write_text(config.read_text().replace(str(POLICY), str(wrong)), encoding="utf-8")
    with pytest.raises(PolicyError, match=r"there is no table hr\.regoins"):
        policy(config, "check")


def test_a_query_is_tried_as_somebody(config: Path) -> None:
    sql = "SELECT count(*) AS n, max(salary) AS most FROM employees"
    code, text = policy(config, "test", "--as", "mia", "--sql", sql)
    assert code == 0, text
    assert "$1 = 3" in text
    assert "only rows of hr.employees" in text
    # A function of the database's own allowlist.
    assert policy(config, "test", "--as", "mia", "--sql", "SELECT factorial(5)")[0] == 0
    code, text = policy(config, "test", "--as", "mia", "--sql", "SELECT 1 FROM payslips")
    assert code == 2
    assert "not_permitted" in text


def test_the_rows_of_every_table_are_counted(config: Path) -> None:
    code, text = policy(config, "test", "--as", "mia")
    assert code == 0, text
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "." in line}
    mine, all_ = (int(count.replace(",", "")) for count in lines["hr.employees"])
    assert 0 < mine < all_


def test_an_assistant_has_its_tables_alone(config: Path) -> None:
    code, text = policy(config, "check", "staff", "--role", "analyst")
    assert (code, re.findall(r"hr\.\w+", text)) == (0, ["hr.employees"]), text
    code, text = policy(config, "test", "staff", "--as", "mia")
    assert (code, re.findall(r"hr\.\w+", text)) == (0, ["hr.employees"]), text
    sql = "SELECT count(*) FROM hr.payslips"
    assert policy(config, "test", "--sql", sql)[0] == 0
    code, text = policy(config, "test", "staff", "--sql", sql)
    assert code == 2
    assert "not_permitted" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "--role", "boss"), "no role 'boss'"),
        (("check", "bare"), "has no policy"),
        (("test", "--as", "eve"), "has none of the roles.* another principal with --as"),
        (("test", "--as", "bob"), "no principal 'bob'"),
        (("apply", "--yes", "shop"), "not a PostgreSQL database"),
        (("apply", "--remove", "shop"), "not a PostgreSQL database"),
    ],
)
def test_what_cannot_be_done_says_why(config: Path, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(QuorumError, match=said):
        policy(config, *arguments)


def test_it_is_applied_checked_and_removed(secured_config: Path, wiring: Wiring) -> None:
    secured = Wiring(load_settings(secured_config), wiring.socket_folder)
    assert check_policy(secured, "demo_erp").remedy == "quorumsql policy apply demo_erp"

    code, output = policy(secured_config, "apply", answer="n\n")
    assert code == 1
    assert check_policy(secured, "demo_erp").status == "failed"
    try:
        code, output = policy(secured_config, "apply", answer="y\n")
        assert code == 0
        assert "row-level security is applied" in output
        assert check_policy(secured, "demo_erp").status == "ok"
    finally:
        code, output = policy(secured_config, "apply", "--remove", "--yes")
    assert code == 0
    assert "Now set databases.demo_erp.row_level_security to false" in output
    assert check_policy(secured, "demo_erp").message.endswith("never applied to it.")


def test_the_script_goes_to_psql_as_it_is(secured_config: Path) -> None:
    code, output = policy(secured_config, "apply", "--sql")
    assert code == 0
    assert output.startswith("-- The row policies of demo_erp")
    assert output.endswith("COMMIT;\n")
    assert max(map(len, output.splitlines())) > 200
    code, output = policy(secured_config, "apply", "--sql", "--remove")
    assert code == 0
    assert "DROP POLICY" in output


def test_behind_it_the_index_and_the_doctor_go_on(secured_config: Path, wiring: Wiring) -> None:
    secured = Wiring(load_settings(secured_config), wiring.socket_folder)
    before = secured.source("demo_erp").read_catalog()
    with secured.source("demo_erp") as reader:
        values = [each.qualified for each in reader.survey(before.tables, most=100, longest=50)]
    assert len(values) > 50
    policy(secured_config, "apply", "--yes")
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
        code, output = policy(secured_config, "test")
        assert code == 0
        assert "42501" not in output
    finally:
        policy(secured_config, "apply", "--remove", "--yes")
    assert secured.source("demo_erp").read_catalog() == before
