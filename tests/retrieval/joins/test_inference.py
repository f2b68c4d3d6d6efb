"""Keys that names and types propose, and those that values confirm."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog, ForeignKey, Table
from retrieval.introspection.source_database import Containment
from retrieval.joins.inference import find_candidates, infer_keys
from tests.fakes import build_key, build_table
from tests.retrieval.values.builders import FakeValues

BUYERS = build_table("s.customers", "id integer", "name text", key=("id",))
ADDRESSES = build_table("s.addresses", "address_id integer", "city text", key=("address_id",))


def find(*tables: Table, keys: tuple[ForeignKey, ...] = (), **catalog: str) -> set[tuple[str, str]]:
    groups = find_candidates(Catalog("x", tables, keys, **catalog))  # type: ignore[arg-type]
    return {
        (
            f"{candidate.table.qualified}({candidate.column})",
            f"{candidate.key.table.qualified}({candidate.key.column.name})",
        )
        for group in groups
        for candidate in group
    }


@pytest.mark.parametrize(
    ("column", "target"),
    [
        ("customer_id", "s.customers(id)"),
        ("CustomerId", "s.customers(id)"),
        ("cust_no", "s.customers(id)"),
        ("customer", "s.customers(id)"),
        ("address_id", "s.addresses(address_id)"),
        ("billing_address_id", "s.addresses(address_id)"),
        ("shipto_addr_id", "s.addresses(address_id)"),
    ],
)
def test_a_column_may_refer_to_what_it_is_called_after(column: str, target: str) -> None:
    orders = build_table("s.orders", "id integer", f"{column} bigint", key=("id",))
    assert find(BUYERS, ADDRESSES, orders) == {(f"s.orders({column})", target)}


@pytest.mark.parametrize("column", ["id integer", "total integer", "city text", "paid_on date"])
def test_other_columns_refer_to_nothing(column: str) -> None:
    assert find(BUYERS, ADDRESSES, build_table("s.orders", column)) == set()


def test_types_must_fit_but_in_sqlite() -> None:
    orders = build_table("s.orders", "id integer", "customer_id text", key=("id",))
    assert find(BUYERS, orders) == set()
    assert find(BUYERS, orders, dialect="sqlite")
    dates = build_table("s.orders", "id integer", "customer_id date", key=("id",))
    assert find(BUYERS, dates, dialect="sqlite") == set()


def test_a_declared_key_is_not_doubted_nor_turned_round() -> None:
    orders = build_table("s.orders", "id integer", "customer_id integer", key=("id",))
    declared = build_key("s.orders(customer_id)", "s.customers(id)")
    assert find(BUYERS, orders, keys=(declared,)) == set()


@pytest.mark.parametrize("column", ["approved_by", "sales_rep_id", "manager_id"])
def test_what_people_do_refers_to_the_people(column: str) -> None:
    staff = build_table("s.employees", "id integer", f"{column} integer", key=("id",))
    users = build_table("s.users", "id integer", key=("id",))
    orders = build_table("s.orders", "id integer", f"{column} integer", key=("id",))
    found = find(staff, users, orders)
    assert (f"s.orders({column})", "s.employees(id)") in found
    assert (f"s.employees({column})", "s.employees(id)") in found
    assert (f"s.orders({column})", "s.users(id)") not in found


def test_without_a_declared_key_what_is_called_like_one_may_be_it() -> None:
    students = build_table("s.student", "stuid integer", "name text")
    pets = build_table("s.has_pet", "petid integer", "stuid integer")
    assert ("s.has_pet(stuid)", "s.student(stuid)") in find(students, pets)


def test_the_own_schema_comes_first_and_others_only_where_they_are_the_only_one() -> None:
    orders = build_table("a.orders", "id integer", "customer_id integer", key=("id",))
    here = build_table("a.customers", "id integer", key=("id",))
    there = build_table("b.customers", "id integer", key=("id",))
    also_there = build_table("c.customers", "id integer", key=("id",))
    assert find(orders, here, there) == {("a.orders(customer_id)", "a.customers(id)")}
    assert find(orders, there) == {("a.orders(customer_id)", "b.customers(id)")}
    assert find(orders, there, also_there) == set()


def test_a_name_that_very_many_keys_have_says_nothing() -> None:
    tenants = [build_table(f"s.t{at}", "tenant_no integer", key=("tenant_no",)) for at in range(30)]
    orders = build_table("s.orders", "id integer", "tenant_no integer", key=("id",))
    assert find(orders, *tenants) == set()


CUSTOMERS = build_table("s.customers", "id integer", key=("id",))
ORDERS = build_table(
    "s.orders", "id integer", "customer_id integer", "last_customer_id integer", key=("id",)
)
CATALOG = Catalog("shop", (CUSTOMERS, ORDERS))


class FakeSampler(FakeValues):
    """Says of each column what it is told to; nothing of others."""

    def __init__(self, *unique: str, **answers: Containment) -> None:
        super().__init__({})
        self._answers = answers
        self._unique = unique

    def contain(
        self, table: Table, column: str, target: Table, target_column: str
    ) -> Containment | None:
        """The answer for the column."""
        return self._answers.get(f"{column}_{target.name}") or self._answers.get(column)

    def is_unique(self, table: Table, column: str) -> bool:
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
