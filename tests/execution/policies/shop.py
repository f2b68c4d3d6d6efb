"""A policy over the schema of the tests, in the form of a policy file."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from nl2sql.catalog import Catalog
from nl2sql.types import AttributeValue, Principal, Violation
from tests.fakes import SHOP

_POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "country": {"type": "text"},
        "sellers": {"type": "integer[]"},
        "since": {"type": "date"},
    },
    "shared": ["stock.products"],
    "roles": {
        "boss": {"tables": {"visible": "*"}, "rows": "all"},
        "clerk": {
            "tables": {
                "visible": ["sales.customers", "sales.orders", "sales.order_lines", "stock.returns"]
            },
            "row_filters": {"sales.customers": "country = :country"},
            "hidden_columns": ["sales.customers.Loyalty Tier"],
            "masked_columns": ["sales.orders.total"],
        },
        "seller": {
            "tables": {"visible": ["sales.employees", "sales.orders"]},
            "row_filters": {
                "sales.employees": "id = ANY(:sellers)",
                "sales.orders": "seller_id IN :sellers AND placed_at >= :since",
            },
            "masked_columns": ["sales.employees.name"],
        },
    },
}


def build_policy_value(**changes: Any) -> dict[str, Any]:
    """The policy as a mapping; ``clerk={...}`` changes keys of that role, others the top level."""
    value = deepcopy(_POLICY)
    for key, change in changes.items():
        if key in value["roles"]:
            value["roles"][key] |= change
        else:
            value[key] = change
    return value


def compile_shop(
    catalog: Catalog = SHOP,
    *,
    row_level_security: bool = False,
    **changes: Any,
) -> CompiledPolicy:
    """The policy, changed, on a catalog. Raises PolicyError."""
    return CompiledPolicy(
        parse_policy(build_policy_value(**changes)),
        catalog,
        row_level_security=row_level_security,
    )


def find_access(
    *roles: str, compiled: CompiledPolicy | None = None, **attributes: AttributeValue
) -> Access:
    """What somebody with these roles and attributes may see."""
    attributes = attributes or {"country": "DE", "sellers": (1, 2), "since": "2024-01-01"}
    principal = Principal("ann", roles, tuple(attributes.items()))
    access = (compiled or compile_shop()).access(principal)
    assert not isinstance(access, Violation), access
    return access
