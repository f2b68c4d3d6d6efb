"""Definitions for tests, over the schema ``SHOP``."""

from __future__ import annotations

from typing import Any

from nl2sql.catalog import Catalog
from nl2sql.types import Definition
from retrieval.semantics.resolution import resolve_definitions
from retrieval.semantics.semantics_file import SemanticsFile, parse_semantics
from tests.fakes import SHOP

SPENT = "sum(order_lines.quantity * order_lines.price)"


def build_file(**sections: Any) -> SemanticsFile:
    """A file with these sections."""
    return parse_semantics({"version": 1, **sections})


def build_definition(catalog: Catalog = SHOP, **sections: Any) -> Definition:
    """The only definition of a file with these sections."""
    (resolved,), problems = resolve_definitions(build_file(**sections), catalog)
    assert not problems
    definition = resolved.build(catalog, "semantics.yaml")
    assert definition is not None
    return definition


REVENUE = build_definition(
    measures={
        "revenue": {
            "expression": SPENT,
            "filter": "orders.status <> 'cancelled'",
            "description": "What was ordered",
            "synonyms": ["turnover"],
        }
    }
)
"""A measure of two tables."""

GERMANS = build_definition(filters={"German customers": "customers.country = 'DE'"})
"""A filter of one table."""
