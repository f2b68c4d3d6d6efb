"""Every error has a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from execution.duckdb.errors import SQLSTATES
from nl2sql.types import NOT_PERMITTED
from repair.taxonomy import BY_GUARD_CODE, OTHER, UNREPAIRABLE, classify_state
from tests.golden import load_changes

EXECUTION = Path(__file__).parents[2] / "execution"
# What stands in the placeholders of codes that are put together.
PLACEHOLDERS = {
    "_not_allowed": ("function", "type", "operator"),
    "unexplained_": ("table", "column"),
}


def list_guard_codes() -> Iterator[str]:
    """The first argument of every Violation and Unresolved that the guard makes."""
    for path in EXECUTION.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in ("Violation", "Unresolved"):
                continue
            code = node.args[0]
            if isinstance(code, ast.Constant):
                yield str(code.value)
            elif isinstance(code, ast.JoinedStr):
                fixed = "".join(str(p.value) for p in code.values if isinstance(p, ast.Constant))
                words = PLACEHOLDERS[fixed]
                yield from (w + fixed if fixed[0] == "_" else fixed + w for w in words)
            elif isinstance(code, ast.Name) and code.id == "NOT_PERMITTED":
                yield NOT_PERMITTED
            else:
                # The exception's own constructor hands its code on.
                assert path.name == "scopes.py", ast.unparse(node)


def test_every_code_of_the_guard_has_a_class_and_no_other_code_has_one() -> None:
    codes = set(list_guard_codes())
    assert len(codes) > 12
    assert codes == set(BY_GUARD_CODE)


@pytest.mark.parametrize(("sqlstate", "name"), [*load_changes("error_classes"), ("", "other")])
def test_a_sqlstate_has_its_class(sqlstate: str, name: str) -> None:
    assert classify_state(sqlstate) == name


def test_every_state_that_duckdb_errors_become_is_classified() -> None:
    unclassified = {state for state in SQLSTATES.values() if classify_state(state) == OTHER}
    assert unclassified == {"XX000"}


def test_what_is_withheld_is_not_repaired() -> None:
    assert BY_GUARD_CODE[NOT_PERMITTED] in UNREPAIRABLE
    assert classify_state("42501") in UNREPAIRABLE
