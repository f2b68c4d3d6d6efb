"""What a declared type holds, database by database."""

from __future__ import annotations

import pytest
import yaml

from nl2sql.sql.column_kinds import Kind, find_kind
from tests.golden import load_text

TYPES: dict[str, dict[Kind, list[str]]] = yaml.safe_load(load_text("column_kinds.yaml"))


@pytest.mark.parametrize(
    ("dialect", "kind"), [(dialect, kind) for dialect, kinds in TYPES.items() for kind in kinds]
)
def test_a_declared_type_is_of_one_kind(dialect: str, kind: Kind) -> None:
    names = TYPES[dialect][kind]
    assert {name: find_kind(name, dialect) for name in names} == dict.fromkeys(names, kind)


@pytest.mark.parametrize("dialect", TYPES)
@pytest.mark.parametrize(
    "declared", ["'", '"', ")(", ":", "a.b.c", "STRUCT(", "[]", "(" * 100, "é", "\0"]
)
def test_what_is_no_type_is_never_an_error(dialect: str, declared: str) -> None:
    assert find_kind(declared, dialect) == "other"


def test_what_can_be_read_in_too_many_ways_is_of_no_known_type() -> None:
    assert find_kind(f"{'STRUCT(' * 35}1{')' * 35}", "duckdb") == "other"
