"""What one principal gets: the visible catalog, bound values, several roles, the second wall."""

from __future__ import annotations

import pytest

from execution.policies.access import CompiledPolicy, name_database_role
from execution.policies.policy_file import parse_policy
from nl2sql.errors import PolicyError
from nl2sql.types import AttributeValue, Principal, SessionIdentity, Violation
from tests.execution.policies.shop import build_policy_value, compile_shop, find_access
from tests.fakes import SHOP


def test_the_catalog_shows_what_the_role_may_see() -> None:
    catalog = find_access("clerk").catalog
    names = {table.qualified for table in catalog.tables}
    assert names == {
        "sales.customers",
        "sales.orders",
        "sales.order_lines",
        "stock.returns",
        "stock.products",
    }
    customers = catalog.table("sales.customers")
    assert customers is not None
    assert customers.column("Loyalty Tier") is None
    assert all({key.table, key.target} <= names for key in catalog.foreign_keys)


def test_a_hash_is_text_whatever_was_hashed() -> None:
    employees = find_access("seller").catalog.table("sales.employees")
    assert employees is not None
    assert [column.type for column in employees.columns if column.name == "name"] == ["text"]


def test_only_who_sees_everything_is_not_restricted() -> None:
    assert not find_access("boss").restricted
    assert find_access("clerk").restricted
    assert not find_access("boss", "clerk").restricted


def test_who_has_no_role_of_the_policy_sees_nothing() -> None:
    verdict = compile_shop().access(Principal("eve", ("admin",)))
    assert isinstance(verdict, Violation)
    assert (verdict.code, verdict.fragment) == ("not_permitted", "eve")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("country", ("DE", "FR")),
        ("country", 7),
        ("country", "D\0E"),
        ("sellers", ("one",)),
        ("sellers", (True,)),
        ("sellers", (2**63,)),
        ("sellers", tuple(range(2000))),
        ("since", "yesterday"),
    ],
    ids=["list", "number", "null", "word", "truth", "large", "many", "no_date"],
)
def test_a_value_of_the_wrong_kind_is_refused(name: str, value: AttributeValue) -> None:
    verdict = compile_shop().access(Principal("ann", ("clerk",), ((name, value),)))
    assert isinstance(verdict, Violation)
    assert verdict.code == "not_permitted"
    assert name in verdict.message


def test_hashes_need_their_key() -> None:
    with pytest.raises(PolicyError, match="SHOP_HASH_KEY is not set"):
        CompiledPolicy(parse_policy(build_policy_value()), SHOP, environ={})


def test_the_key_of_hashes_does_not_show_itself() -> None:
    assert "pepper" not in repr(find_access("seller"))


def test_the_second_wall_runs_under_the_role_with_the_values_as_settings() -> None:
    access = find_access("clerk", compiled=compile_shop(second_wall=True))
    assert access.session == SessionIdentity(
        "quorumsql_shop_clerk",
        (
            ("quorumsql.country", "DE"),
            ("quorumsql.sellers", '{"1","2"}'),
            ("quorumsql.since", "2024-01-01"),
        ),
    )


def test_the_second_wall_needs_exactly_one_role() -> None:
    verdict = compile_shop(second_wall=True).access(Principal("ann", ("clerk", "seller")))
    assert isinstance(verdict, Violation)
    assert "exactly one role" in verdict.message


def test_a_role_that_is_too_long_for_postgresql_is_an_error() -> None:
    with pytest.raises(PolicyError, match="63 bytes"):
        name_database_role("shop", "r" * 60)
