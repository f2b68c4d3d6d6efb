"""The second reading of names, by itself (golden: fixtures/names.txt)."""

from __future__ import annotations

import postgast
import pytest

from execution.postgres.names import check_names
from execution.postgres.plan_verification import read_names
from execution.postgres.trees import name_output
from nl2sql.catalog import Catalog
from tests.attacks.attack import CALLS, Attack
from tests.fakes import SHOP, build_table
from tests.golden import load_changes

CURRENCIES = Catalog("shop", (build_table("main.currencies", "code text"),))


def read(sql: str, catalog: Catalog = SHOP) -> str:
    """The name that is not found; empty when all are."""
    statement = postgast.parse(sql).stmts[0].stmt.select_stmt
    violation = check_names(statement, catalog, lambda _: "")
    assert violation is None or violation.code == "unexplained_column"
    return violation.fragment if violation else ""


@pytest.mark.parametrize("attack", CALLS, ids=lambda attack: attack.id)
def test_a_call_by_attribute_notation_is_refused_by_this_reader_alone(attack: Attack) -> None:
    assert read(attack.sql.replace("currencies", "main.currencies"), CURRENCIES)


@pytest.mark.parametrize("sql", [sql for sql, _ in load_changes("names", "found")])
def test_a_column_is_found_where_postgresql_finds_it(sql: str) -> None:
    assert read(sql) == ""


@pytest.mark.parametrize(("sql", "name"), load_changes("names", "not found"))
def test_what_postgresql_would_not_find_is_refused(sql: str, name: str) -> None:
    assert read(sql) == name


@pytest.mark.parametrize(("expression", "name"), load_changes("names", "outputs"))
def test_the_name_of_an_output(expression: str, name: str) -> None:
    """As PostgreSQL 18 names them."""
    statement = postgast.parse(f"SELECT {expression}").stmts[0].stmt.select_stmt
    found = name_output(statement.target_list[0].res_target.val)
    assert found == ("\0" if name == "*" else name)


@pytest.mark.parametrize(("expression", "function"), load_changes("names", "calls in a plan"))
def test_functions_of_a_plan_are_told_from_all_else_that_has_parentheses(
    expression: str, function: str
) -> None:
    found = read_names({"Node Type": "Result", "Output": [expression]})
    assert found == (frozenset() if function == expression else {f"{function}()"})
