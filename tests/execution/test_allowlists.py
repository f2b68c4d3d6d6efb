"""The allowlists, and what a file of one's own adds to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlglot import exp

from execution.allowlists import extend_allowlist, load_allowlist
from execution.guard import SqlGuard
from nl2sql.errors import SettingsError
from nl2sql.types import GuardedQuery, Principal, Violation
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


async def test_functions_types_and_system_tables_can_be_added(tmp_path: Path) -> None:
    text = (
        "functions: [sales.margin]\ntypes: [citext]\n"
        "catalogs: {information_schema.tables: [table_name]}\n"
    )
    allowlist = extend_allowlist("postgres", write(tmp_path, text))
    guard = SqlGuard(FakeCatalogs(SHOP), allowlists={"shop": allowlist})
    plain = SqlGuard(FakeCatalogs(SHOP))
    for sql in (
        "SELECT sales.margin(id) FROM orders",
        "SELECT 'a'::citext",
        "SELECT table_name FROM information_schema.tables",
    ):
        assert isinstance(await plain.guard("shop", sql, Principal("ann")), Violation)
        assert isinstance(await guard.guard("shop", sql, Principal("ann")), GuardedQuery), sql
    other = await guard.guard(
        "shop", "SELECT table_schema FROM information_schema.tables", Principal("ann")
    )
    assert isinstance(other, Violation)


def test_what_was_there_stays(tmp_path: Path) -> None:
    extended = extend_allowlist("sqlite", write(tmp_path, "functions: [spellfix1]"))
    base = load_allowlist("sqlite")
    assert replace(extended, functions=base.functions) == base


@pytest.mark.parametrize("text", ["nodes: [Insert]", "functions: 5", "[]", "functions: ["])
def test_a_wrong_file_says_what_it_may_hold(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError):
        extend_allowlist("postgres", write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"gone\.yaml"):
        extend_allowlist("postgres", tmp_path / "gone.yaml")
