"""What the doctor says of databases: definitions, empty ones, several with the same result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from execution.postgres.embedded import SUPERUSER, EmbeddedServer
from nl2sql.catalog import Skipped
from nl2sql.settings.database import AssistantSettings, ConnectionSettings
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks import Check
from serve_app.operations.checks.databases import check_databases, check_definitions_alone
from serve_app.operations.indexing import describe_emptiness
from serve_app.operations.preparation import create_databases
from serve_app.settings import Settings, parse_settings
from tests.execution.sqlite.shop import write

WRONG = """\
version: 1
measures:
  revenue: sum(invoice.net_amt)
  units: sum(products.name)
  sleep: { expression: sum(orders.amt), filter: pg_sleep(orders.amt) is null }
filters:
  open: orders.statu = 'OPN'
"""
_DENIED = (
    Skipped("table", "hr.a", "no SELECT for the reader", remedy="GRANT SELECT ON hr.a TO r;"),
    Skipped("table", "hr.b", "no SELECT for the reader", remedy="GRANT SELECT ON hr.b TO r;"),
)


def check(settings: Settings, *names: str) -> dict[str, Check]:
    return {found.title: found for found in check_databases(settings, names)}


def test_all_that_is_wrong_with_definitions_is_said_at_once(
    tmp_path: Path, demo_settings: Settings, embedded_server: EmbeddedServer
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(WRONG, encoding="utf-8")
    demo = demo_settings.databases["demo_erp"].model_copy(update={"semantics": file})
    settings = demo_settings.model_copy(
        update={"databases": {**demo_settings.databases, "demo_erp": demo}}
    )
    found = check(settings, "demo_erp")["definitions of demo_erp"]
    assert (found.status, found.message) == ("failed", "4 are wrong")
    text = found.remedy
    assert "line 3: measures.revenue.expression: there is no table 'invoice'; did you mean" in text
    assert "'finance.invoices'?" in text
    assert "line 7: filters.open.condition: sales.orders has no column 'statu'" in text
    assert "line 5: measures.sleep: the guard refuses it" in text
    assert "line 4: measures.units: the database refuses it: function sum(text)" in text


def test_assistants_are_checked_with_their_database(tmp_path: Path, wiring: Wiring) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(WRONG, encoding="utf-8")
    assistants = {
        "staff": AssistantSettings(database="demo_erp", tables=("hr.*",), semantics=file),
        "stock": AssistantSettings(database="demo_erp", tables=("inventory.*", "stock.*")),
        "other": AssistantSettings(database="second", tables=("none",)),
    }
    settings = wiring.settings.model_copy(update={"assistants": assistants})
    found = check(settings, "demo_erp")
    assert found["assistant of staff"].status == "ok"
    assert found["definitions of staff"].message == "4 are wrong"
    assert found["assistant of stock"].status == "failed"
    assert found["assistant of stock"].message.endswith("no table of demo_erp matches stock.*.")
    assert "assistant of other" not in found


def test_definitions_that_an_assistant_never_uses_are_a_warning(
    tmp_path: Path, wiring: Wiring
) -> None:
    file = tmp_path / "staff.yaml"
    file.write_text(
        "version: 1\nmeasures:\n  people: count(employees.employee_id)\n"
        "  paid: sum(payslips.net_amt)\n"
    )
    staff = AssistantSettings(database="demo_erp", tables=("hr.employees",), semantics=file)
    bare = AssistantSettings(database="demo_erp")
    assistants = {"staff": staff, "bare": bare}
    settings = wiring.settings.model_copy(update={"assistants": assistants})
    found = list(check_definitions_alone(settings, ["staff", "bare"]))
    assert [each.status for each in found] == ["warning", "failed"]
    assert found[0].message.startswith("paid: never used")
    assert found[0].remedy.startswith("Name the tables under assistants.staff.tables")
    assert found[1].remedy.startswith("Set assistants.bare.semantics")


def test_databases_with_the_same_result_share_a_line(
    tmp_path: Path, embedded_server: EmbeddedServer, demo_settings: Settings
) -> None:
    databases: dict[str, Any] = {}
    for name in ("a", "b", "c"):
        path = tmp_path / f"{name}.sqlite"
        write(path, "CREATE TABLE t (x)")
        databases[name] = {"reader": {"url": f"sqlite:///{path}"}}
    away = {"url": "postgresql://nobody@127.0.0.1:1/none"}
    unset = {"url": "postgresql://nobody@127.0.0.1:1/none", "password_env": "NOT_SET_ANYWHERE"}
    databases["gone"] = {"reader": {"url": f"sqlite:///{tmp_path}/gone.sqlite"}}
    databases["away"] = {"reader": away, "indexer": away}
    lost = {"policy": f"{tmp_path}/lost.yaml", "synonyms": f"{tmp_path}/lost.yaml"}
    databases["lost"] = {**databases["a"], **lost}
    owner = {"url": embedded_server.url("postgres", SUPERUSER)}
    databases["owned"] = {"reader": owner, "indexer": owner}
    databases["unset"] = {"reader": unset, "indexer": away}
    # The role is then called like the user of the system.
    nameless = {"url": owner["url"].replace(f"{SUPERUSER}@", "")}
    databases["nameless"] = {"reader": nameless, "indexer": owner}
    settings = parse_settings({"home": str(demo_settings.home), "databases": databases})
    found = check(settings, *databases)
    assert found["database of a, b, c, lost"].message == "answers"
    for part in ("policy", "synonyms"):
        assert "No such file" in found[f"{part} of lost"].message
    for name in ("owned", "nameless"):
        assert "CREATE ROLE quorumsql_reader LOGIN" in found[f"database of {name}"].remedy
    assert found["database of gone"].status == "failed"
    assert "Connection refused" in found["database of away"].message
    assert "NOT_SET_ANYWHERE is not set" in found["database of unset"].message


def test_a_database_of_the_embedded_server_is_created_empty(
    embedded_server: EmbeddedServer, demo_settings: Settings
) -> None:
    databases = {"new_shop": {"reader": {"url": "embedded"}}}
    settings = parse_settings({"home": str(demo_settings.home), "databases": databases})
    missing = check(settings, "new_shop")["database of new_shop"]
    assert "created by `quorumsql index build`" in missing.message
    create_databases(settings, embedded_server)
    try:
        create_databases(settings, embedded_server)  # is there now
        assert check(settings, "new_shop")["database of new_shop"].message == "answers"
    finally:
        embedded_server.drop_database("new_shop")
    told = describe_emptiness("new_shop", settings.databases["new_shop"], ())
    assert "psql -h HOME/postgres -U postgres new_shop" in told


def test_an_indexer_that_cannot_connect_is_told(
    demo_settings: Settings, embedded_server: EmbeddedServer
) -> None:
    demo = demo_settings.databases["demo_erp"]
    away = ConnectionSettings(url="postgresql://nobody@127.0.0.1:1/none")
    settings = demo_settings.model_copy(
        update={"databases": {"demo_erp": demo.model_copy(update={"indexer": away})}}
    )
    found = check(settings, "demo_erp")
    assert found["database of demo_erp"].status == "ok"
    assert "Connection refused" in found["indexer of demo_erp"].message


@pytest.mark.parametrize(
    ("schemas", "skipped", "expected"),
    [
        ((), (), ["shop has no table to ask about", "index build shop"]),
        (("hr",), (), ["shop has no table in hr to ask about", "databases.shop.schemas"]),
        (
            ("hr",),
            (Skipped("schema", "hr", "there is no schema of that name"),),
            ["shop has none of the schemas in databases.shop.schemas"],
        ),
        ((), _DENIED, ["cannot SELECT from any table of shop", "GRANT SELECT ON hr.b TO r;"]),
    ],
    ids=["nothing", "nothing_in_schema", "no_such_schema", "denied"],
)
def test_why_there_is_nothing_to_ask_about_and_what_would_help(
    schemas: tuple[str, ...], skipped: tuple[Skipped, ...], expected: list[str]
) -> None:
    shop = {"reader": {"url": "duckdb:////x.duckdb"}, "schemas": list(schemas)}
    settings = parse_settings({"default_database": "shop", "databases": {"shop": shop}})
    told = describe_emptiness("shop", settings.databases["shop"], skipped)
    assert [text for text in expected if text not in told] == []
