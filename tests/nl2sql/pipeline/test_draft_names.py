"""Whether a second search is worth it."""

from __future__ import annotations

import pytest

from nl2sql.pipeline.draft_names import has_new_names
from tests.fakes import build_context

CONTEXT = build_context(tables=("sales.orders", "sales.customers"))


@pytest.mark.parametrize(
    "draft",
    [
        "SELECT * FROM orders",
        "SELECT COUNT(*) FROM Orders o WHERE O.STATUS = 'open'",
        "SELECT c.* FROM sales.customers c JOIN orders ON orders.customer_id = c.id",
        "WITH big AS (SELECT customer_id, sum(total) AS s FROM orders GROUP BY 1) "
        "SELECT s FROM big ORDER BY s",
        "SELECT t.n FROM (SELECT count(*) FROM orders) AS t(n)",
        'SELECT "Loyalty Tier" FROM customers',
    ],
)
def test_known_names_are_not_new(draft: str) -> None:
    assert not has_new_names(draft, CONTEXT)


@pytest.mark.parametrize(
    "draft",
    [
        "SELECT * FROM products",
        "SELECT * FROM stock.orders",
        "SELECT price FROM orders",
        "SELECT id FROM orders WHERE product_id IN (SELECT id FROM customers)",
        "SELECT name FROM customers WHERE id IN (SELECT id FROM returns)",
        "SELECT FROM WHERE (",
        "SELECT total FROM orders WHERE",
    ],
)
def test_other_names_are_and_so_is_what_does_not_parse(draft: str) -> None:
    assert has_new_names(draft, CONTEXT)
