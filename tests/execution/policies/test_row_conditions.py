"""What a principal is told of the rows that a policy leaves, and what never."""

from __future__ import annotations

import json
from typing import Any

import pytest

from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.policies.row_conditions import describe_rows
from nl2sql.types import Principal
from tests.execution.policies.shop import build_policy_value, compile_shop, find_access
from tests.fakes import SHOP, FakeCatalogs
from tests.golden import load_changes

TABLES = [table.qualified for table in SHOP.tables]


ATTRIBUTES = {
    "country": {"type": "text"},
    "countries": {"type": "text[]"},
    "ids": {"type": "integer[]"},
    "sellers": {"type": "integer[]"},
    "since": {"type": "date"},
}


def compile_filter(row_filter: str = "country = :country", **role: Any) -> CompiledPolicy:
    """The shop's policy with that filter of the clerk's customers."""
    clerk = {"row_filters": {"sales.customers": row_filter}, **role}
    return compile_shop(attributes=ATTRIBUTES, clerk=clerk)


@pytest.mark.parametrize(("case", "told"), load_changes("row_conditions"))
def test_only_own_values_in_equations_are_told(case: str, told: str) -> None:
    row_filter, attributes = json.loads(case)
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in attributes.items()}
    access = find_access("clerk", compiled=compile_filter(row_filter), **values)
    assert dict(describe_rows(access, TABLES)) == {
        "sales.customers": "" if told == "nothing" else told,
        # These inherit, over a key that may lead anywhere.
        "sales.orders": "",
        "sales.order_lines": "",
        "stock.returns": "",
    }


@pytest.mark.parametrize(
    "role",
    [
        pytest.param({"hidden_columns": ["sales.customers.country"]}, id="hidden"),
        pytest.param({"masked_columns": ["sales.customers.country"]}, id="masked"),
    ],
)
def test_a_column_that_is_not_shown_is_not_named(role: dict[str, Any]) -> None:
    access = find_access("clerk", compiled=compile_filter(**role))
    assert dict(describe_rows(access, TABLES))["sales.customers"] == ""


def test_who_sees_all_rows_is_told_of_no_limit() -> None:
    for roles in (("boss",), ("clerk", "boss")):
        assert describe_rows(find_access(*roles), TABLES) == ()


def test_of_two_roles_with_their_own_rows_neither_is_told() -> None:
    seller = {
        "tables": {"visible": ["sales.customers"]},
        "row_filters": {"sales.customers": "id IN :sellers"},
        "masked_columns": [],
    }
    access = find_access("clerk", "seller", compiled=compile_shop(seller=seller))
    assert dict(describe_rows(access, ["sales.customers"])) == {"sales.customers": ""}


def test_a_table_that_is_not_visible_is_not_named() -> None:
    access = find_access("clerk")
    assert describe_rows(access, ["sales.employees", "stock.products", "no.table"]) == ()


async def test_the_guard_tells_who_has_a_role() -> None:
    policy = PolicySettings(parse_policy(build_policy_value()))
    guard = SqlGuard(FakeCatalogs(SHOP), {"shop": policy})
    ann = Principal("ann", ("clerk",), (("country", "DE"),))
    tables = ["sales.customers"]
    assert await guard.describe_rows("shop", ann, tables) == (
        ("sales.customers", "country = 'DE'"),
    )
    assert await guard.describe_rows("shop", Principal("eve"), tables) == ()
