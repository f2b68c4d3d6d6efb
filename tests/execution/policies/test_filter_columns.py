"""By which columns of a table its rows are chosen."""

from __future__ import annotations

import pytest

from execution.policies.wrappers import list_filters, merge_filters
from tests.execution.policies.shop import compile_shop


@pytest.mark.parametrize(
    ("row_filter", "columns"),
    [
        ("country = :country", {"country"}),
        ("id IN :sellers", {"id"}),
        ("country = :country AND name = 'a'", {"country", "name"}),
        ("(country = :country) AND (id > 3)", {"country", "id"}),
        ("CAST(id AS text) = :country", {"id"}),
        # Where values may decide that there is no condition in the end.
        ("country = :country OR name = 'a'", set()),
        ("NOT country = :country", set()),
        ("country IS NOT NULL", set()),
        ("lower(country) = :country", set()),
        ("CASE WHEN id > 3 THEN country = :country END", set()),
    ],
)
def test_the_columns_of_a_filter(row_filter: str, columns: set[str]) -> None:
    rules = compile_shop(clerk={"row_filters": {"sales.customers": row_filter}}).roles["clerk"]
    assert list_filters(rules, "sales.customers") == {"sales.customers": columns}


def test_inherited_rows_are_chosen_by_the_key_and_by_the_parents_columns() -> None:
    rules = compile_shop().roles["clerk"]
    assert list_filters(rules, "sales.order_lines") == {
        "sales.order_lines": {"order_id"},
        "sales.orders": {"customer_id"},
        "sales.customers": {"country"},
    }
    assert list_filters(rules, "stock.products") == {"stock.products": frozenset()}


def test_of_several_filters_any_column_will_do_unless_none_is_needed() -> None:
    one = {"s.t": frozenset({"a"}), "s.u": frozenset({"c"})}
    two = {"s.t": frozenset({"b"}), "s.u": frozenset[str]()}
    for several in ([one, two], [two, one]):
        assert merge_filters(several) == {"s.t": {"a", "b"}, "s.u": frozenset()}
    assert merge_filters([]) == {}
