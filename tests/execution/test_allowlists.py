"""The allowlists, and what a file of one's own adds to them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from sqlglot import exp

from execution.allowlists import extend_allowlist, load_allowlist
from execution.guard.guard import SqlGuard
from nl2sql.errors import SettingsError
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.execution.judging import judge
from tests.fakes import SHOP, FakeCatalogs


def write(folder: Path, text: str) -> Path:
    file = folder / "allow.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_node_stands_for_its_subclasses() -> None:
    allowlist = load_allowlist("postgres")
    assert allowlist.has_tree_node(exp.Add)
    assert not allowlist.has_tree_node(exp.Insert)
    assert not allowlist.has_tree_node(exp.Command)


def test_a_dialect_without_an_allowlist_has_none() -> None:
    with pytest.raises(FileNotFoundError):
        load_allowlist("oracle")


async def test_functions_operators_and_types_can_be_added(tmp_path: Path) -> None:
    text = "functions: [sales.margin]\noperators: ['<&>']\ntypes: [isbn]\n"
    allowlist = extend_allowlist("postgres", write(tmp_path, text))
    guard = SqlGuard(FakeCatalogs(SHOP), allowlists={"shop": allowlist})
    plain = SqlGuard(FakeCatalogs(SHOP))
    for sql in (
        "SELECT sales.margin(id) FROM orders",
        "SELECT 'a' <&> 'b'",
        "SELECT 'a'::isbn",
    ):
        assert isinstance(await plain.guard("shop", sql, Principal("ann")), Violation)
        assert isinstance(await guard.guard("shop", sql, Principal("ann")), GuardedQuery), sql


def test_what_was_there_stays(tmp_path: Path) -> None:
    extended = extend_allowlist("sqlite", write(tmp_path, "functions: [spellfix1]"))
    base = load_allowlist("sqlite")
    assert replace(extended, functions=base.functions) == base


@pytest.mark.parametrize("text", ["nodes: [Insert]", "functions: 5", "[]", "functions: ["])
def test_a_wrong_file_says_what_it_may_hold(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError):
        extend_allowlist("postgres", write(tmp_path, text))


# Of all entries: a change of a list shows here, whether it gains or loses one.
DIGESTS = {
    "postgres": "5aa2a6ad5c901437",
    "sqlite": "1349465274869139",
    "duckdb": "6ccc4dc9d74b309a",
}


@pytest.mark.parametrize("dialect", DIGESTS)
def test_each_entry_was_meant(dialect: str) -> None:
    allowlist = load_allowlist(dialect)
    entries = "\n".join(
        f"{kind} {name}"
        for kind in ("nodes", "tree_nodes", "types", "functions", "operators", "extended")
        for name in sorted(getattr(allowlist, kind))
    )
    assert hashlib.sha256(entries.encode()).hexdigest()[:16] == DIGESTS[dialect]


# One of each kind of harm, and what stands next to something that is allowed.
HARMFUL = {
    "postgres": "ts_stat ts_rewrite query_to_xml table_to_xml set_config current_setting pg_sleep "
    "pg_advisory_lock pg_terminate_backend pg_read_file pg_ls_dir lo_get lo_import dblink nextval "
    "setval pg_notify txid_current pg_get_viewdef pg_logical_emit_message pg_reload_conf",
    "sqlite": "load_extension readfile writefile edit fts3_tokenizer randomblob zeroblob random "
    "sqlite_compileoption_get sqlite_version last_insert_rowid changes",
    "duckdb": "read_csv read_text read_blob read_parquet glob getenv query query_table nextval "
    "current_setting duckdb_settings sniff_csv txid_current write_log getvariable version",
}


@pytest.mark.parametrize("dialect", HARMFUL)
def test_no_function_that_reads_writes_or_waits_is_on_a_list(dialect: str) -> None:
    for name in HARMFUL[dialect].split():
        assert judge(f"SELECT {name}('a')", dialect) == "function_not_allowed", name
