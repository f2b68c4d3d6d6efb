"""Keys that values confirm, and those that they do not."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog, ForeignKey, Table
from retrieval.introspection.source_database import Containment
from retrieval.joins.inference import infer_keys
from tests.fakes import build_table

CUSTOMERS = build_table("s.customers", "id integer", key=("id",))
ORDERS = build_table(
    "s.orders", "id integer", "customer_id integer", "last_customer_id integer", key=("id",)
)
CATALOG = Catalog("shop", (CUSTOMERS, ORDERS))


class FakeSampler:
    """Says of each column what it is told to; nothing of others. ``asked`` names the columns."""

    def __init__(self, *unique: str, **answers: Containment) -> None:
        self._answers = answers
        self._unique = unique
        self.asked: list[str] = []

    def contain(
        self, table: Table, columns: tuple[str, ...], target: Table, target_columns: tuple[str, ...]
    ) -> Containment | None:
        """The answer for the first column."""
        self.asked.append(columns[0])
        return self._answers.get(f"{columns[0]}_{target.name}") or self._answers.get(columns[0])

    def is_unique(self, table: Table, columns: tuple[str, ...]) -> bool:
        """Whether the table is one of the unique ones."""
        return table.name in self._unique


def infer(sampler: FakeSampler, catalog: Catalog = CATALOG) -> list[str]:
    return [key.columns[0] for key in infer_keys(catalog, sampler)]


def test_an_inferred_key_says_so() -> None:
    keys = infer_keys(CATALOG, FakeSampler(customer_id=Containment(20, 20)))
    assert keys == (
        ForeignKey(
            "orders_customer_id_inferred",
            "s.orders",
            ("customer_id",),
            "s.customers",
            ("id",),
            inferred=True,
        ),
    )


@pytest.mark.parametrize(
    ("containment", "is_confirmed"),
    [
        (Containment(100, 95), True),
        (Containment(100, 94), False),
        (Containment(2, 2), True),
        (Containment(1, 1), False),
        (Containment(0, 0), False),
    ],
)
def test_nearly_all_values_must_be_found(containment: Containment, is_confirmed: bool) -> None:
    assert infer(FakeSampler(customer_id=containment)) == ["customer_id"] * is_confirmed


def test_a_role_needs_more_values() -> None:
    assert infer(FakeSampler(last_customer_id=Containment(2, 2))) == []
    assert infer(FakeSampler(last_customer_id=Containment(3, 3))) == ["last_customer_id"]


def test_another_schema_needs_many_more() -> None:
    there = build_table("t.customers", "id integer", key=("id",))
    catalog = Catalog("shop", (there, ORDERS))
    assert infer(FakeSampler(customer_id=Containment(19, 19)), catalog) == []
    assert infer(FakeSampler(customer_id=Containment(20, 20)), catalog) == ["customer_id"]


def test_what_cannot_be_sampled_is_left_out() -> None:
    sampler = FakeSampler()
    assert infer(sampler) == []
    assert sampler.asked == ["customer_id", "last_customer_id"]


def test_a_target_without_a_key_must_be_unique() -> None:
    customers = build_table("s.customers", "customer_no integer")
    orders = build_table("s.orders", "id integer", "customer_no integer", key=("id",))
    catalog = Catalog("shop", (customers, orders))
    answers = {"customer_no": Containment(9, 9)}
    assert infer(FakeSampler(**answers), catalog) == []
    assert infer(FakeSampler("customers", **answers), catalog) == ["customer_no"]


def test_two_targets_that_fit_alike_are_none() -> None:
    targets = tuple(
        build_table(f"s.{name}_places", "place_id integer", key=("place_id",))
        for name in ("work", "rest")
    )
    source = build_table("s.people", "id integer", "place_id integer", key=("id",))
    catalog = Catalog("x", (*targets, source))
    both = FakeSampler(place_id=Containment(9, 9))
    one = FakeSampler(
        place_id_work_places=Containment(9, 9), place_id_rest_places=Containment(9, 1)
    )
    assert infer(both, catalog) == []
    assert infer(one, catalog) == ["place_id"]


def test_progress_counts_the_columns() -> None:
    seen: list[tuple[int, int]] = []
    infer_keys(CATALOG, FakeSampler(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
