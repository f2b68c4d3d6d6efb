"""quorumsql.yaml: what is refused, and what its words resolve to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nl2sql.errors import SettingsError, UnknownDatabase
from nl2sql.settings.database import ConnectionSettings
from serve_app.settings import Settings, load_settings, parse_settings
from serve_app.settings.service import ObservabilitySettings
from tests.fakes import build_settings
from tests.golden import load_changes

EMBEDDED = {"url": "embedded"}
DATABASE = {"reader": EMBEDDED, "indexer": EMBEDDED}
MINIMAL = "databases: {shop: {reader: {url: embedded}, indexer: {url: embedded}}}\n"


@pytest.mark.parametrize(
    ("value", "key", "nearest"),
    [
        ({"flags": {"votes": True}}, "flags.votes", "vote"),
        ({"flags": {"schema_linking": True}}, "flags.schema_linking", "schema_linker"),
        ({"samplng": {}}, "samplng", "sampling"),
        ({"serve": {"prot": 1}}, "serve.prot", "port"),
        ({"index": {"connection": {"ur": "x"}}}, "index.connection.ur", "url"),
        ({"databases": {"shop": {"schema": []}}}, "databases.shop.schema", "schemas"),
        (
            {"databases": {"shop": {"reader": {**EMBEDDED, "password": "x"}}}},
            "databases.shop.reader.password",
            "password_env",
        ),
        # A database named like a section.
        ({"databases": {"limits": {"schema": []}}}, "databases.limits.schema", "schemas"),
    ],
)
def test_an_unknown_key_names_the_nearest(value: dict[str, Any], key: str, nearest: str) -> None:
    databases = {name: DATABASE | keys for name, keys in value.get("databases", {}).items()}
    with pytest.raises(SettingsError) as caught:
        parse_settings({**value, "databases": databases or {"shop": DATABASE}})
    assert f"{key}: unknown key; did you mean '{nearest}'?" in str(caught.value)


def test_no_folder_is_called_by_a_tilde() -> None:
    assert (
        parse_settings({"databases": {"shop": DATABASE}}).home == Path.home() / ".cache/quorumsql"
    )


def test_every_wrong_key_is_listed() -> None:
    with pytest.raises(SettingsError) as caught:
        build_settings(sampling={"k": -1, "kk": 1}, serve={"port": "x"})
    assert all(key in str(caught.value) for key in ("sampling.k:", "sampling.kk", "serve.port:"))


@pytest.mark.parametrize("k", [0, 33, True, "many"])
def test_a_wrong_number_of_candidates_is_told_what_is_right(k: object) -> None:
    with pytest.raises(SettingsError, match="must be a number from 1 to 32, or adaptive"):
        build_settings(sampling={"k": k})


def test_a_key_that_is_misspelt_is_not_called_missing_too() -> None:
    with pytest.raises(SettingsError, match="did you mean 'databases'") as caught:
        parse_settings({"databses": {}})
    assert "required" not in str(caught.value)


@pytest.mark.parametrize(("url", "complaint"), load_changes("wrong_urls"))
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
        (
            "postgresql://[::1]:5432/shop?user=ann",
            "postgresql://:p%40ss%2F@[::1]:5432/shop?user=ann",
        ),
        ("postgresql://ann@a:1,b:2/shop", "postgresql://ann:p%40ss%2F@a:1,b:2/shop"),
        ("postgresql://ann@/shop?host=/run", "postgresql://ann:p%40ss%2F@/shop?host=/run"),
    ],
    ids=["port", "query", "login in the query", "several hosts", "socket"],
)
def test_the_password_comes_from_the_environment(
    url: str, resolved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ConnectionSettings(url=url, password_env="SHOP_PASSWORD")
    monkeypatch.setenv("SHOP_PASSWORD", "p@ss/")
    assert connection.resolve() == resolved


def load(folder: Path, text: str) -> Settings:
    path = folder / "quorumsql.yaml"
    path.write_text(text)
    return load_settings(path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("home: state\n", "{folder}/state"),
        ("home: ../state\n", "{folder}/../state"),
        ("home: .\n", "{folder}"),
        ("home: /var/lib/quorumsql\n", "/var/lib/quorumsql"),
        ("", "{user}/.cache/quorumsql"),
    ],
    ids=["below", "beside", "here", "absolute", "default_with_tilde"],
)
def test_home_is_relative_to_the_file(tmp_path: Path, line: str, expected: str) -> None:
    path = Path(expected.format(folder=tmp_path, user=Path.home()))
    assert load(tmp_path, f"{line}{MINIMAL}").home == path.resolve()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("databases: {shop\nflags: [", r"not valid YAML.*(\n.*)*line \d"),
        (f"{MINIMAL}flag: {{}}\n", r"quorumsql\.yaml: flag: unknown key"),
        ("databases: {shop: {reader: 'sqlite:///x'}}", r"shop\.reader: must have keys of its own"),
        ("databases: shop", r"databases: must have keys of its own"),
        ("databases: {}", r"quorumsql\.yaml: databases: "),
        (f"{MINIMAL}default_database: hr\n", "'hr' is not under databases"),
        (f"{MINIMAL}identity: {{local: {{roles: {{}}}}}}", r"local\.roles: must be a list"),
    ],
)
def test_an_error_says_where_it_is(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load(tmp_path, text)


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


def test_an_embedded_database_may_have_another_name() -> None:
    named, same = ConnectionSettings(url="embedded:erp"), ConnectionSettings(url="embedded")
    assert named.is_embedded
    assert named.embedded_database("shop") == "erp"
    assert same.embedded_database("shop") == "shop"


@pytest.mark.parametrize(
    ("url", "keys", "message"),
    [
        ("postgresql://r@db/shop", {}, "indexer is missing"),
        ("sqlite:///a.db", {"indexer": {"url": "sqlite:///a.db"}}, "no roles"),
        ("duckdb:///a.db", {"indexer": {"url": "duckdb:///a.db"}}, "no roles"),
        ("sqlite:///a.db", {"schemas": ["main"]}, "no schemas"),
        ("sqlite:///a.db", {"password_env": "X"}, "has no password"),
        ("sqlite:///", {}, "must start with"),
        ("duckdb:///", {}, "must start with"),
        ("mysql://db", {}, "must start with"),
    ],
)
def test_a_contradictory_database_is_refused(url: str, keys: dict[str, Any], message: str) -> None:
    password = {key: keys[key] for key in keys if key == "password_env"}
    others = {key: keys[key] for key in keys if key != "password_env"}
    with pytest.raises(SettingsError, match=message):
        parse_settings({"databases": {"shop": {"reader": {"url": url, **password}, **others}}})


def test_paths_in_the_file_are_relative_to_it(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "home: here\nmodel: {adapter: lora}\n"
        "ranking: { calibration: fits/mine.json }\n"
        "identity: { jwt: { issuer: any, audience: a, jwks: keys.json } }\n"
        "databases: {shop: {reader: {url: 'sqlite:///data/shop.sqlite'}, semantics: terms.yaml}}\n",
    )
    folder = tmp_path.resolve()
    assert settings.home == folder / "here"
    assert settings.model.adapter == folder / "lora"
    assert settings.databases["shop"].reader.sqlite_path == folder / "data/shop.sqlite"
    assert settings.databases["shop"].semantics == folder / "terms.yaml"
    assert settings.ranking.calibration == folder / "fits/mine.json"
    assert settings.identity.jwt.jwks_file == folder / "keys.json"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:4318", "it must look like"),
        ("https://me:secret@collector.example.com/v1/traces", "OTEL_EXPORTER_OTLP_HEADERS"),
    ],
)
def test_an_endpoint_is_an_address_without_secrets(url: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ObservabilitySettings(traces_endpoint=url)


def test_nothing_is_sent_by_default() -> None:
    settings = ObservabilitySettings()
    assert (settings.traces_endpoint, settings.log_questions) == ("", False)
