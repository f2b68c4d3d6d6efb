"""What an error may say to a restricted principal."""

from __future__ import annotations

import pytest

from execution.error_disclosure import name_condition, withhold_values
from nl2sql.types import Diagnostic

SECRET = "Miller"


def build(sqlstate: str) -> Diagnostic:
    return Diagnostic(sqlstate, f"something about {SECRET}", position=7, hint=f"try {SECRET}")


@pytest.mark.parametrize(
    "sqlstate", ["42703", "42P01", "42601", "0A000", "3F000", "54001", "57014"]
)
def test_what_a_query_names_itself_may_be_said_while_it_is_planned(sqlstate: str) -> None:
    assert withhold_values(build(sqlstate), running=False) == build(sqlstate)


@pytest.mark.parametrize("sqlstate", ["25006", "40001", "53200", "57014"])
def test_the_state_of_the_server_may_be_said_while_it_runs(sqlstate: str) -> None:
    assert withhold_values(build(sqlstate), running=True) == build(sqlstate)


@pytest.mark.parametrize(
    ("sqlstate", "running"),
    [
        ("22012", False),
        ("22P02", True),
        ("21000", True),
        ("23505", True),
        # 'Miller'::regclass fails in the class of unknown tables, to_tsquery in that of syntax.
        ("42P01", True),
        ("42601", True),
        ("3F000", True),
        ("54000", True),
        ("55000", True),
        ("P0001", False),
        ("XX000", False),
        ("ZZ999", False),
        ("", False),
    ],
)
def test_all_else_is_named_and_not_quoted(sqlstate: str, running: bool) -> None:
    said = withhold_values(build(sqlstate), running=running)
    assert (said.sqlstate, said.position, said.hint) == (sqlstate, 7, "")
    assert SECRET not in said.message
    assert said.message.startswith(name_condition(sqlstate))


def test_an_error_of_a_function_is_never_quoted_whatever_its_code() -> None:
    for running in (True, False):
        said = withhold_values(build("42703"), running=running, in_function=True)
        assert said.message.startswith("undefined column")
        assert SECRET not in f"{said.message}{said.hint}"
