"""Who is not let in, or not to a table: principals that lack a role, or carry a wrong attribute."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from nl2sql.types import AttributeValue, GuardedQuery, Principal, ResultSet, Violation
from tests.attacks.everywhere import ENGINES
from tests.attacks.guarded import GuardedWay
from tests.attacks.scratch import OURS

_FILTERED = "SELECT name FROM employees"
_SHARED = "SELECT code FROM currencies"


def build_principal(role: str, **attributes: AttributeValue) -> Principal:
    return Principal("somebody", (role,) if role else (), tuple(attributes.items()))


# Attribute values that are no integer, or more than one.
WRONG_VALUES: dict[str, AttributeValue] = {
    "sql": "1 OR 1 = 1",
    "sql_with_a_quote": "1' OR '1' = '1",
    "comment": "1 --",
    "empty": "",
    "boolean": True,
    "fraction": 1.5,
    "not_a_number": float("nan"),
    "infinity": float("inf"),
    "too_large": 2**63,
    "list": (1, 2),
    "null_character": "1\0",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("role", ["", "nobody", "MANAGER", "manager ", "member,manager"])
@pytest.mark.parametrize("sql", [_FILTERED, _SHARED, "SELECT 1"])
def test_nobody_without_a_role_of_the_policy_is_let_in(
    engine: str, role: str, sql: str, guarded: Mapping[str, GuardedWay]
) -> None:
    answer = guarded[engine].guard(sql, build_principal(role, department_id=1))
    assert isinstance(answer, Violation)
    assert answer.code == "not_permitted"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("value", WRONG_VALUES.values(), ids=WRONG_VALUES.keys())
def test_an_attribute_of_another_type_is_refused(
    engine: str, value: AttributeValue, guarded: Mapping[str, GuardedWay]
) -> None:
    answer = guarded[engine].guard(_FILTERED, build_principal("manager", department_id=value))
    assert isinstance(answer, Violation)
    assert answer.code == "not_permitted"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("attributes", [{}, {"DEPARTMENT_ID": 1}, {"department": 1}])
def test_without_the_attribute_the_filtered_tables_are_refused_and_the_shared_ones_are_not(
    engine: str, attributes: dict[str, AttributeValue], guarded: Mapping[str, GuardedWay]
) -> None:
    principal = build_principal("manager", **attributes)
    answer = guarded[engine].guard(_FILTERED, principal)
    assert isinstance(answer, Violation)
    assert answer.code == "not_permitted"
    assert isinstance(guarded[engine].guard(_SHARED, principal), GuardedQuery)


@pytest.mark.parametrize("engine", ENGINES)
def test_values_are_bound_and_never_stand_in_the_text(
    engine: str, guarded: Mapping[str, GuardedWay]
) -> None:
    principal = build_principal("manager", department_id=1)
    other = build_principal("manager", department_id=2)
    ours, theirs = (guarded[engine].guard(_FILTERED, who) for who in (principal, other))
    assert isinstance(ours, GuardedQuery)
    assert isinstance(theirs, GuardedQuery)
    assert (ours.params, theirs.params) == ((1,), (2,))
    assert ours.sql == theirs.sql
    result = guarded[engine].execute(ours)
    assert isinstance(result, ResultSet)
    assert sorted(result.rows, key=repr) == list(OURS)
