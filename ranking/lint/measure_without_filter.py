"""A measure of the semantic layer that is computed over rows which its definition excludes."""

from __future__ import annotations

from collections.abc import Iterable

from nl2sql.types import Finding
from ranking.definition_use import DefinitionUse


def measure_without_filter(uses: Iterable[DefinitionUse]) -> Finding | None:
    """A warning if a named measure's expression is there, and a column of its filter nowhere.

    A candidate that mentions the column at all may limit the rows in another way.
    """
    for use in uses:
        definition = use.definition
        if definition.kind == "measure" and use.computes and use.missing:
            missing = " AND ".join(use.missing)
            message = f"{definition.name} is defined with {missing}, which is missing."
            return Finding("measure_without_filter", "warning", message)
    return None
