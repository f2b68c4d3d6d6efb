"""A policy over the schema of the tests, in the form of a policy file."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import yaml

from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from nl2sql.catalog import Catalog
from nl2sql.types import AttributeValue, Principal, Violation
from tests.fakes import SHOP
from tests.golden import load_text

_POLICY: dict[str, Any] = yaml.safe_load(load_text("shop_policy.yaml"))


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
