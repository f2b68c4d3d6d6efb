"""A database with nothing to ask about: what is said of it, and that it stops nobody else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nl2sql.settings import Settings, parse_settings
from nl2sql.skipped import Skipped
from serve_app.composition.empty_databases import describe_emptiness
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks.databases import check_schema

_DENIED = (
    Skipped("table", "hr.a", "no SELECT for the reader", remedy="GRANT SELECT ON hr.a TO r;"),
    Skipped("table", "hr.b", "no SELECT for the reader", remedy="GRANT SELECT ON hr.b TO r;"),
)


def _build_settings(*schemas: str, url: str = "duckdb:////x.duckdb") -> Settings:
    shop = {"reader": {"url": url}, "schemas": list(schemas)}
    return parse_settings({"default_database": "shop", "databases": {"shop": shop}})


@pytest.mark.parametrize(
    ("schemas", "skipped", "message", "remedy"),
    [
        ((), (), "shop has no table to ask about", "index build shop"),
        (("hr",), (), "shop has no table in hr to ask about", "databases.shop.schemas"),
        (
            ("hr",),
            (Skipped("schema", "hr", "there is no schema of that name"),),
            "shop has none of the schemas in databases.shop.schemas",
            "Correct databases.shop.schemas",
        ),
        (
            (),
            _DENIED,
            "The reader cannot SELECT from any table of shop",
            "GRANT SELECT ON hr.b TO r;",
        ),
    ],
    ids=["nothing", "nothing_in_schema", "no_such_schema", "denied"],
)
def test_why_there_is_nothing_and_what_would_help(
    schemas: tuple[str, ...], skipped: tuple[Skipped, ...], message: str, remedy: str
) -> None:
    settings = _build_settings(*schemas).databases["shop"]
    empty = describe_emptiness("shop", settings, skipped)
    assert message in empty.message
    assert remedy in empty.remedy


def _check(path: Path, script: str) -> tuple[str, str, str]:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    check = check_schema(Wiring(_build_settings(url=f"sqlite:///{path}")), "shop")
    return check.status, check.message, check.remedy


def test_doctor_tells_what_is_left_out(tmp_path: Path) -> None:
    script = "CREATE TABLE a (x); CREATE TABLE b (x); CREATE VIEW v AS SELECT y FROM a"
    status, message, remedy = _check(tmp_path / "a.sqlite", script)
    assert (status, remedy) == ("ok", "")
    assert message == "2 tables; left out: 1 view: it does not work (main.v)"
