"""What a model names as tables and columns, in whatever form."""

from __future__ import annotations

import pytest

from retrieval.linking.model_linker import read_names
from tests.fakes import build_context

CONTEXT = build_context()
TOTAL = ("sales.orders", "total")
TIER = ("sales.customers", "Loyalty Tier")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("orders.total\ncustomers.Loyalty Tier", [TOTAL, TIER]),
        ("- orders.total\n* `customers`.`Loyalty Tier`", [TOTAL, TIER]),
        ('1. sales.orders.total\n2) "customers"."Loyalty Tier"', [TOTAL, TIER]),
        ("ORDERS.TOTAL - the sum\nplaced_at (when)", [TOTAL, ("sales.orders", "placed_at")]),
        ('["orders.total", "customers.Loyalty Tier"]', [TOTAL, TIER]),
        ('{"columns": ["orders.total"]}', [TOTAL]),
        (
            'Sure:\n{"orders": ["total"], "employees": []}',
            [("sales.orders", ""), TOTAL, ("sales.employees", "")],
        ),
        ("orders, customers", [("sales.orders", ""), ("sales.customers", "")]),
        ("orders.total, orders.id", [TOTAL, ("sales.orders", "id")]),
        ("orders.total\norders.total", [TOTAL]),
        ("invoices.total\norders.amount\nid\nprice", []),
        ("I do not know.", []),
        ("", []),
        ("[" * 5000, []),
    ],
)
def test_names_are_read_from_any_form(text: str, named: list[tuple[str, str]]) -> None:
    assert read_names(text, CONTEXT) == named
