"""Guards that hide nothing: without a policy, and with policies that every row passes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.catalog import Catalog
from nl2sql.types import Principal
from tests.oracle.stage import build_guarding
from tests.oracle.verdicts import Guarding

_ANYBODY = Principal("anybody", ("all",))


def build_guards(catalog: Catalog) -> Mapping[str, Guarding]:
    """By name: no policy, one without filters, one whose filter of the table ``t`` always holds."""
    role: dict[str, Any] = {"tables": {"visible": "*"}}
    whole = {"version": 1, "roles": {"all": {**role, "rows": "all"}}}
    name = catalog.tables[0].qualified
    filtered = {"version": 1, "roles": {"all": {**role, "row_filters": {name: "id > 0"}}}}
    return {
        "no policy": partial(_guard_openly, access=open_access(catalog)),
        "all rows": build_guarding(whole, catalog, _ANYBODY),
        "filtered": build_guarding(filtered, catalog, _ANYBODY),
    }


def _guard_openly(sql: str, *, access: Any) -> Any:
    return guard_query(sql, access)
