"""What a principal is told of the rows that a policy leaves, and what never."""

from __future__ import annotations

import json
from typing import Any

import pytest

from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.policies.row_conditions import describe_rows
from nl2sql.types import AttributeValue, Principal
from tests.fakes import SHOP, FakeCatalogs
from tests.golden import load_changes

TABLES = [table.qualified for table in SHOP.tables]


def build_policy(row_filter: str, *, role: dict[str, Any] | None = None) -> dict[str, Any]:
    """One clerk over customers, orders and their lines; the customers are filtered."""
    return {
        "version": 1,
        "attributes": {
            "country": {"type": "text"},
            "countries": {"type": "text[]"},
            "ids": {"type": "integer[]"},
            "since": {"type": "date"},
        },
        "shared": ["stock.products"],
        "roles": {
            "clerk": {
                "tables": {"visible": ["sales.customers", "sales.orders", "sales.order_lines"]},
                "row_filters": {"sales.customers": row_filter},
                **(role or {}),
            },
            "boss": {"tables": {"visible": "*"}, "rows": "all"},
        },
    }


def find_access(policy: dict[str, Any], *roles: str, **attributes: AttributeValue) -> Access:
    access = CompiledPolicy(parse_policy(policy), SHOP).access(
        Principal("ann", roles or ("clerk",), tuple(attributes.items()))
    )
    assert isinstance(access, Access)
    return access


@pytest.mark.parametrize(("case", "told"), load_changes("row_conditions"))
def test_only_own_values_in_equations_are_told(case: str, told: str) -> None:
    row_filter, attributes = json.loads(case)
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in attributes.items()}
    access = find_access(build_policy(row_filter), **values)
    assert dict(describe_rows(access, TABLES)) == {
        "sales.customers": "" if told == "nothing" else told,
        # These inherit, over a key that may lead anywhere.
        "sales.orders": "",
        "sales.order_lines": "",
    }


@pytest.mark.parametrize(
    "role",
    [
        pytest.param({"hidden_columns": ["sales.customers.country"]}, id="hidden"),
        pytest.param({"masked_columns": ["sales.customers.country"]}, id="masked"),
    ],
)
def test_a_column_that_is_not_shown_is_not_named(role: dict[str, Any]) -> None:
    access = find_access(build_policy("country = :country", role=role), country="DE")
    assert dict(describe_rows(access, TABLES))["sales.customers"] == ""


def test_who_sees_all_rows_is_told_of_no_limit() -> None:
    policy = build_policy("country = :country")
    for roles in (("boss",), ("clerk", "boss")):
        assert describe_rows(find_access(policy, *roles, country="DE"), TABLES) == ()


def test_of_two_roles_with_their_own_rows_neither_is_told() -> None:
    policy = build_policy("country = :country")
    policy["roles"]["agent"] = {
        "tables": {"visible": ["sales.customers"]},
        "row_filters": {"sales.customers": "id IN :ids"},
    }
    access = find_access(policy, "clerk", "agent", country="DE", ids=(1,))
    assert dict(describe_rows(access, ["sales.customers"])) == {"sales.customers": ""}


def test_a_table_that_is_not_visible_is_not_named() -> None:
    access = find_access(build_policy("country = :country"), country="DE")
    assert describe_rows(access, ["sales.employees", "stock.products", "no.table"]) == ()


async def test_the_guard_tells_who_has_a_role() -> None:
    policy = PolicySettings(parse_policy(build_policy("country = :country")))
    guard = SqlGuard(FakeCatalogs(SHOP), {"shop": policy})
    ann = Principal("ann", ("clerk",), (("country", "DE"),))
    tables = ["sales.customers"]
    assert await guard.describe_rows("shop", ann, tables) == (
        ("sales.customers", "country = 'DE'"),
    )
    assert await guard.describe_rows("shop", Principal("eve"), tables) == ()
