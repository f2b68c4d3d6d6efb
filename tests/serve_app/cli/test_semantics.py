"""``quorumsql semantics import`` on an SQLite shop, and the doctor's check of what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from serve_app.cli.terminal import ERRORS, TerminalReporter
from serve_app.composition.wiring import Wiring
from serve_app.settings import Settings, load_settings
from tests.execution.sqlite.shop import build_shop
from tests.serve_app.cli.conftest import Call, write_config

CUBES = """\
cubes:
  - name: sales
    sql_table: Orders
    description: What customers bought
    dimensions:
      - {name: status, type: string, sql: status, description: OPEN until it is paid}
      - {name: weight, type: number, sql: weight, description: In kg}
    measures:
      - {name: revenue, type: sum, sql: total, filters: [{sql: "{CUBE}.status <> 'OPEN'"}]}
      - {name: gross, type: sum, sql: total}
      - {name: share, type: number, sql: "{revenue} / {gross}"}
      - {name: typical, type: number, sql: "no_such_function({CUBE}.total) + max(total)"}
      - {name: gone, type: sum, sql: "{CUBE}.nothing"}
"""


@pytest.fixture
def config(tmp_path: Path, demo_settings: Settings) -> Path:
    build_shop(tmp_path / "shop.db")
    (tmp_path / "cubes.yml").write_text(CUBES)
    shop = {"reader": {"url": "sqlite:///shop.db"}, "semantics": "semantics.yaml"}
    databases = {"shop": shop, "bare": {"reader": shop["reader"]}}
    return write_config(tmp_path, home=str(demo_settings.home), databases=databases)


def test_what_passes_the_checks_is_printed_and_the_doctor_agrees(config: Path, call: Call) -> None:
    arguments = ("semantics", "import", "shop", str(config.parent / "cubes.yml"))
    code, out, error = call(config, *arguments)
    assert code == 0
    made = yaml.safe_load(out)
    assert made["measures"]["share"] == {
        "expression": "sum(Orders.total) FILTER (WHERE Orders.status <> 'OPEN') / sum(Orders.total)"
    }
    assert set(made["measures"]) == {"revenue", "gross", "share"}
    assert "main.Orders has no column 'nothing'" in error
    assert "the guard refuses it" in error
    document = json.loads(call(config, *arguments, "--json")[1])
    assert document["definitions"] == made
    assert {each["what"] for each in document["left_out"]} == {
        *("typical", "gone", "Orders.weight"),
    }

    file = config.parent / "semantics.yaml"
    file.write_text(out)
    assert call(config, "doctor", "shop", "--definitions")[:2] == (
        0,
        "✓ definitions of shop: 3 fit\n",
    )
    catalog = Wiring(load_settings(config)).read_described("shop")
    orders = catalog.resolve("orders")
    assert orders is not None
    assert orders.comment == "What customers bought"
    comments = {column.name: column.comment for column in orders.columns if column.comment}
    assert comments == {"status": "OPEN until it is paid"}

    file.write_text(out.replace("total", "totl").replace("Orders.status:", "Orders.stat:"))
    code, told, _ = call(config, "doctor", "shop", "--definitions")
    assert code == 1
    assert "descriptions.Orders.stat: no such table or column; did you mean" in told


def test_a_database_without_a_file_of_definitions_does_not_pass(config: Path, call: Call) -> None:
    code, out, _ = call(config, "doctor", "bare", "--definitions")
    assert (code, out.splitlines()[0]) == (1, "✗ definitions of bare: no file is named")


def test_nothing_to_import_is_no_success(config: Path, call: Call) -> None:
    script = config.parent / "orders.js"
    script.write_text("cube(`orders`, {})")
    code, out, error = call(config, "semantics", "import", "shop", str(script))
    assert (code, yaml.safe_load(out)) == (1, {"version": 1})
    assert "no models in a programming language" in error


def test_the_progress_is_no_part_of_what_is_piped(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = TerminalReporter(ERRORS)
    with reporter.step("Embedded PostgreSQL") as step:
        step.finish("set up")
    reporter.warn("slow")
    shown = capsys.readouterr()
    assert (shown.out, "set up" in shown.err, "slow" in shown.err) == ("", True, True)
