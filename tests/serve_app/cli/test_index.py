"""``quorumsql index`` on SQLite files, over an index of its own in the tests' embedded server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from execution.postgres.embedded import INDEXER, EmbeddedServer
from nl2sql.errors import (
    DatabaseUnavailable,
    IndexUnavailable,
    InvalidRequest,
    PolicyError,
    UnknownDatabase,
)
from retrieval.index_store.store import IndexStore
from serve_app.operations.preparation import prepare
from serve_app.reporting import SilentReporter
from serve_app.settings import Settings, load_settings
from tests.execution.sqlite.shop import write
from tests.fakes import FakeReporter
from tests.retrieval.index_store.conftest import create_index
from tests.serve_app.cli.conftest import run, write_config


@pytest.fixture
def config(tmp_path: Path, demo_settings: Settings, embedded_server: EmbeddedServer) -> Path:
    """Two files with a table or two, and an index in which nothing is set up yet."""
    create_index(embedded_server, "cli_index")
    write(tmp_path / "shop.sqlite", "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
    write(tmp_path / "hr.sqlite", "CREATE TABLE employees (id INTEGER PRIMARY KEY)")
    return write_config(
        tmp_path,
        home=str(demo_settings.home),
        default_database="shop",
        index={"connection": {"url": "embedded:cli_index"}},
        databases={
            name: {"reader": {"url": f"sqlite:///{name}.sqlite"}} for name in ("shop", "hr")
        },
    )


def index(config: Path, *arguments: str, answer: str = "") -> tuple[int, str]:
    done = run(config, "index", *arguments, answer=answer)
    return done.exit_code, done.output


def read_states(config: Path) -> dict[str, str]:
    _, output = index(config, "status", "--json")
    return {load["database"]: load["state"] for load in json.loads(output)}


def test_the_life_of_an_index(config: Path) -> None:
    assert read_states(config) == {"hr": "not indexed", "shop": "not indexed"}
    code, output = index(config, "build")
    assert code == 0
    assert "1 table, 2 columns" in output
    (_, found) = json.loads(index(config, "status", "--json")[1])
    assert (found["database"], found["state"]) == ("shop", "current")
    assert (found["tables"], found["columns"], found["embedder"]) == (1, 2, "all-MiniLM-L6-v2")
    assert found["indexed_at"].endswith("+00:00")
    assert "unchanged" in index(config, "build", "shop")[1]

    write(config.parent / "shop.sqlite", "ALTER TABLE customers ADD COLUMN country TEXT")
    assert read_states(config) == {"hr": "current", "shop": "changed"}
    assert "2 cards embedded" in index(config, "build", "shop")[1]
    assert read_states(config) == {"hr": "current", "shop": "current"}

    assert "quorumsql index build shop" in index(config, "drop", "shop", "--yes")[1]
    assert read_states(config) == {"hr": "current", "shop": "not indexed"}


def test_a_database_that_left_the_settings_can_be_dropped(config: Path) -> None:
    index(config, "build", "shop")
    settings = yaml.safe_load(config.read_text())
    settings["databases"].pop("shop")
    config.write_text(yaml.safe_dump({**settings, "default_database": "hr"}))
    assert read_states(config) == {"hr": "not indexed", "shop": "unknown"}
    assert index(config, "drop", "shop", "--yes")[0] == 0
    assert read_states(config) == {"hr": "not indexed"}


def test_an_assistant_is_served_by_the_index_of_its_database(config: Path) -> None:
    settings = yaml.safe_load(config.read_text())
    desk: dict[str, Any] = {"database": "shop", "tables": ["main.customers"]}
    config.write_text(yaml.safe_dump({**settings, "assistants": {"desk": desk}}))
    assert json.loads(index(config, "build", "desk", "--json")[1])["databases"] == ["shop"]
    assert read_states(config) == {"hr": "not indexed", "shop": "current"}
    assert index(config, "drop", "desk", "--yes")[1] == "desk had no index.\n"
    desk["tables"].append("main.orders")
    config.write_text(yaml.safe_dump({**settings, "assistants": {"desk": desk}}))
    with pytest.raises(PolicyError, match=r"desk.tables: no table of shop matches main.orders"):
        index(config, "build")


def test_dropping_asks_first(config: Path) -> None:
    index(config, "build", "shop")
    code, output = index(config, "drop", "shop", answer="n\n")
    assert code == 1
    assert "Drop the index of shop?" in " ".join(output.split())
    assert read_states(config)["shop"] == "current"
    assert index(config, "drop", "hr", "--yes")[1] == "hr had no index.\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("drop",), InvalidRequest),
        (("drop", "shop", "--all"), InvalidRequest),
        (("drop", "nope", "--yes"), UnknownDatabase),
        (("build", "nope"), UnknownDatabase),
        (("status", "nope"), UnknownDatabase),
    ],
)
def test_what_cannot_be_meant_is_refused(
    config: Path, arguments: tuple[str, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        index(config, *arguments)


def test_a_newer_layout_can_be_dropped_and_built_again(
    config: Path, embedded_server: EmbeddedServer
) -> None:
    with psycopg.connect(embedded_server.url("cli_index", INDEXER)) as connection:
        connection.execute("CREATE SCHEMA quorumsql")
        connection.execute("CREATE TABLE quorumsql.layout AS SELECT 999 AS version")
    with pytest.raises(IndexUnavailable, match="layout 999"):
        index(config, "build", "shop")
    assert index(config, "drop", "--all", "--yes")[0] == 0
    assert index(config, "build", "shop")[0] == 0


def test_one_database_that_is_away_does_not_stop_the_others(
    config: Path, embedded_server: EmbeddedServer
) -> None:
    (config.parent / "shop.sqlite").unlink()
    settings = load_settings(config)
    with pytest.raises(DatabaseUnavailable, match="shop"):
        asyncio.run(prepare(settings, SilentReporter(), databases=["shop", "hr"]))
    reporter = FakeReporter()
    asyncio.run(prepare(settings, reporter, databases=["shop", "hr"], strict=False))
    assert [text for text in reporter.heard if text.startswith("shop was not indexed:")]
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(prepare(settings, SilentReporter(), databases=["shop"], strict=False))
    store = IndexStore(embedded_server.url("cli_index", INDEXER))

    async def list_indexed() -> list[str]:
        heads = await store.heads()
        await store.close()
        return [head.database for head in heads]

    assert asyncio.run(list_indexed()) == ["hr"]
