"""quorumsql.yaml: what is refused, and what its words resolve to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nl2sql.errors import SettingsError, UnknownDatabase
from nl2sql.settings import load_settings, parse_settings
from nl2sql.settings.connection import ConnectionSettings
from tests.fakes import build_settings

EMBEDDED = {"url": "embedded"}
DATABASE = {"reader": EMBEDDED, "indexer": EMBEDDED}
MINIMAL = "databases: {shop: {reader: {url: embedded}, indexer: {url: embedded}}}\n"


@pytest.mark.parametrize(
    ("value", "key", "nearest"),
    [
        ({"flags": {"rerank": True}}, "flags.rerank", "reranker"),
        ({"flags": {"schema_linking": True}}, "flags.schema_linking", "schema_linker"),
        ({"samplng": {}}, "samplng", "sampling"),
        ({"serve": {"prot": 1}}, "serve.prot", "port"),
        ({"index": {"connection": {"ur": "x"}}}, "index.connection.ur", "url"),
        (
            {"databases": {"shop": {**DATABASE, "schema": []}}},
            "databases.shop.schema",
            "schemas",
        ),
        (
            {"databases": {"shop": {**DATABASE, "reader": {**EMBEDDED, "password": "x"}}}},
            "databases.shop.reader.password",
            "password_env",
        ),
        (
            {"databases": {"limits": {**DATABASE, "schema": []}}},
            "databases.limits.schema",
            "schemas",
        ),
    ],
    ids=[
        "flag",
        "linker",
        "section",
        "port",
        "nested",
        "database",
        "connection",
        "database_named_like_a_section",
    ],
)
def test_an_unknown_key_names_the_nearest(value: dict[str, Any], key: str, nearest: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings({"databases": {"shop": DATABASE}, **value})
    assert f"unknown key {key}, did you mean {nearest}?" in str(caught.value)


def test_every_wrong_key_is_listed() -> None:
    with pytest.raises(SettingsError) as caught:
        build_settings(sampling={"k": -1, "kk": 1}, serve={"port": "x"})
    assert all(key in str(caught.value) for key in ("sampling.k:", "sampling.kk", "serve.port:"))


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_settings_are_a_mapping(value: object) -> None:
    with pytest.raises(SettingsError, match="must be a mapping"):
        parse_settings(value)


def test_a_database_is_needed() -> None:
    with pytest.raises(SettingsError, match="databases"):
        parse_settings({"databases": {}})


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("postgresql://ann:secret@db/shop", "holds a password"),
        ("mysql://ann@db/shop", "must start with postgresql://"),
        ("db/shop", "must start with postgresql://"),
    ],
    ids=["password", "scheme", "bare"],
)
def test_a_wrong_url_is_refused(url: str, complaint: str) -> None:
    reader = {"url": url}
    with pytest.raises(SettingsError, match=complaint) as caught:
        build_settings(databases={"shop": {"reader": reader, "indexer": EMBEDDED}})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("postgresql://ann@db:5432/shop", "postgresql://ann:p%40ss%2F@db:5432/shop"),
        ("postgres://ann@db/shop?x=1", "postgres://ann:p%40ss%2F@db/shop?x=1"),
    ],
    ids=["port", "query"],
)
def test_the_password_comes_from_the_environment(url: str, resolved: str) -> None:
    connection = ConnectionSettings(url=url, password_env="SHOP_PASSWORD")
    assert connection.resolve({"SHOP_PASSWORD": "p@ss/"}) == resolved


def test_without_password_env_the_url_is_the_url() -> None:
    url = "postgresql://ann@db/shop"
    assert ConnectionSettings(url=url, password_env="").resolve({}) == url


def test_a_variable_that_is_not_set_is_an_error_naming_it() -> None:
    connection = ConnectionSettings(url="postgresql://ann@db/shop", password_env="SHOP_PASSWORD")
    with pytest.raises(SettingsError, match="SHOP_PASSWORD is not set"):
        connection.resolve({})


@pytest.mark.parametrize(
    ("home", "expected"),
    [("state", "state"), ("../state", "../state"), (".", ".")],
    ids=["below", "beside", "here"],
)
def test_home_is_relative_to_the_file(tmp_path: Path, home: str, expected: str) -> None:
    folder = tmp_path / "deploy"
    folder.mkdir()
    path = folder / "quorumsql.yaml"
    path.write_text(f"home: {home}\n{MINIMAL}")
    assert load_settings(path).home == (folder / expected).resolve()


def test_an_absolute_home_stays(tmp_path: Path) -> None:
    path = tmp_path / "quorumsql.yaml"
    path.write_text(f"home: /var/lib/quorumsql\n{MINIMAL}")
    assert load_settings(path).home == Path("/var/lib/quorumsql")


def test_home_knows_the_tilde(tmp_path: Path) -> None:
    path = tmp_path / "quorumsql.yaml"
    path.write_text(MINIMAL)
    assert load_settings(path).home == (Path.home() / ".cache/quorumsql").resolve()


def test_a_missing_file_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file") as caught:
        load_settings(tmp_path / "quorumsql.yaml")
    assert "--config" in caught.value.hint


def test_bad_yaml_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "quorumsql.yaml"
    path.write_text("databases: {shop\nflags: [")
    with pytest.raises(SettingsError, match=r"not valid YAML.*(\n.*)*line \d"):
        load_settings(path)


def test_an_error_in_the_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "quorumsql.yaml"
    path.write_text(MINIMAL + "flag: {}\n")
    with pytest.raises(SettingsError, match=r"quorumsql\.yaml: unknown key flag"):
        load_settings(path)


@pytest.mark.parametrize(
    ("names", "default", "asked", "chosen"),
    [
        (("shop",), "", None, "shop"),
        (("shop",), "", "", "shop"),
        (("shop", "erp"), "erp", None, "erp"),
        (("shop", "erp"), "erp", "shop", "shop"),
    ],
    ids=["only_one", "empty_name", "default", "asked_for"],
)
def test_the_database_is_the_one_asked_for_or_the_default(
    names: tuple[str, ...], default: str, asked: str | None, chosen: str
) -> None:
    settings = build_settings(databases=dict.fromkeys(names, DATABASE), default_database=default)
    assert settings.database_name(asked) == chosen


@pytest.mark.parametrize("asked", [None, "hr"], ids=["none_named", "unknown"])
def test_an_unclear_database_is_an_error(asked: str | None) -> None:
    settings = build_settings(databases={"shop": DATABASE, "erp": DATABASE})
    with pytest.raises(UnknownDatabase, match="Known: shop, erp"):
        settings.database_name(asked)


def test_the_default_database_must_be_configured() -> None:
    with pytest.raises(SettingsError, match="'hr' is not under databases"):
        build_settings(default_database="hr")


def test_settings_are_immutable() -> None:
    with pytest.raises(ValueError, match="frozen"):
        build_settings().sampling.k = 2  # type: ignore[misc]


@pytest.mark.parametrize("part", ["index", "reader", "indexer", "none"])
def test_the_embedded_server_is_used_when_any_connection_lives_there(part: str) -> None:
    remote = {"url": "postgresql://ann@db/shop"}
    urls = {name: EMBEDDED if name == part else remote for name in ("index", "reader", "indexer")}
    settings = build_settings(
        databases={"shop": {"reader": urls["reader"], "indexer": urls["indexer"]}},
        index={"connection": urls["index"]},
    )
    assert settings.uses_embedded_server is (part != "none")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///data/shop.sqlite", "data/shop.sqlite"),
        ("sqlite:////srv/a b?.db", "/srv/a b?.db"),
    ],
)
def test_an_sqlite_url_is_a_path(url: str, path: str) -> None:
    connection = ConnectionSettings(url=url)
    assert connection.sqlite_path == connection.file_path == Path(path)
    assert connection.duckdb_path is None


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("duckdb:///data/shop.duckdb", "data/shop.duckdb"),
        ("duckdb:////srv/a b?.db", "/srv/a b?.db"),
    ],
)
def test_a_duckdb_url_is_a_path(url: str, path: str) -> None:
    connection = ConnectionSettings(url=url)
    assert connection.duckdb_path == connection.file_path == Path(path)
    assert connection.sqlite_path is None


def test_a_duckdb_file_may_have_schemas() -> None:
    reader = {"url": "duckdb:///shop.duckdb"}
    settings = parse_settings(
        {"databases": {"shop": {"reader": reader, "schemas": ["sales", "main"]}}}
    )
    assert settings.databases["shop"].dialect == "duckdb"
    assert settings.databases["shop"].schemas == ("sales", "main")


@pytest.mark.parametrize("url", ["embedded", "embedded:erp", "postgresql://r@db/shop"])
def test_a_server_is_no_file(url: str) -> None:
    assert ConnectionSettings(url=url).file_path is None


def test_an_embedded_database_may_have_another_name() -> None:
    named, same = ConnectionSettings(url="embedded:erp"), ConnectionSettings(url="embedded")
    assert named.is_embedded
    assert named.embedded_database("shop") == "erp"
    assert same.embedded_database("shop") == "shop"


@pytest.mark.parametrize(
    ("database", "message"),
    [
        pytest.param(
            {"reader": {"url": "postgresql://r@db/shop"}}, "indexer is missing", id="no indexer"
        ),
        pytest.param(
            {"reader": {"url": "sqlite:///a.db"}, "indexer": {"url": "sqlite:///a.db"}},
            "no roles",
            id="indexer of a file",
        ),
        pytest.param(
            {"reader": {"url": "sqlite:///a.db"}, "schemas": ["main"]},
            "no schemas",
            id="schemas of a file",
        ),
        pytest.param(
            {"reader": {"url": "sqlite:///a.db", "password_env": "X"}},
            "has no password",
            id="password of a file",
        ),
        pytest.param(
            {"reader": {"url": "duckdb:///a.db"}, "indexer": {"url": "duckdb:///a.db"}},
            "no roles",
            id="indexer of a DuckDB file",
        ),
        pytest.param({"reader": {"url": "sqlite:///"}}, "must start with", id="no path"),
        pytest.param({"reader": {"url": "duckdb:///"}}, "must start with", id="no DuckDB path"),
        pytest.param({"reader": {"url": "mysql://db"}}, "must start with", id="other scheme"),
    ],
)
def test_a_database_that_cannot_be_is_refused(database: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        parse_settings({"databases": {"shop": database}})


def test_paths_in_the_file_are_relative_to_it(tmp_path: Path) -> None:
    path = tmp_path / "quorumsql.yaml"
    path.write_text(
        "home: here\nmodel: {folders: [weights], adapters: [lora.gguf]}\n"
        "databases: {shop: {reader: {url: 'sqlite:///data/shop.sqlite'}}}\n"
    )
    settings = load_settings(path)
    folder = tmp_path.resolve()
    assert settings.home == folder / "here"
    assert settings.model.folders == (folder / "weights",)
    assert settings.model.adapters == (folder / "lora.gguf",)
    assert settings.databases["shop"].reader.sqlite_path == folder / "data/shop.sqlite"


@pytest.mark.parametrize(
    ("calibration", "found"),
    [("auto", "auto"), ("none", "none"), ("fits/mine.json", "{folder}/fits/mine.json")],
)
def test_a_calibration_of_its_own_is_relative_to_the_file(
    tmp_path: Path, calibration: str, found: str
) -> None:
    path = tmp_path / "quorumsql.yaml"
    path.write_text(f"{MINIMAL}ranking: {{calibration: {calibration}}}\n")
    expected = found.format(folder=tmp_path.resolve())
    assert load_settings(path).ranking.calibration == expected
