"""A principal's values: what they may be, how each database gets them, how a session holds them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from execution.name_resolution.scopes import Unresolved
from execution.policies.parameters import (
    BoundValue,
    Parameters,
    convert_value,
    fill_from_settings,
    name_slots,
    render_setting,
    render_slot,
)
from execution.policies.policy_file import Attribute, AttributeType
from nl2sql.types import AttributeValue

STAMP = dt.datetime(2024, 1, 2, 3, 4, 5)

VALUES: list[tuple[AttributeType, AttributeValue, BoundValue]] = [
    ("boolean", True, True),
    ("boolean", "True", True),
    ("boolean", "FALSE", False),
    ("text", "DE", "DE"),
    ("text", "", ""),
    ("integer", 7, 7),
    ("integer", "7", 7),
    ("integer", -(2**63) + 1, -(2**63) + 1),
    ("integer", 2**63 - 1, 2**63 - 1),
    ("numeric", "1.50", Decimal("1.50")),
    ("numeric", 2, Decimal(2)),
    ("date", "2024-01-02", dt.date(2024, 1, 2)),
    ("timestamp", "2024-01-02 03:04:05", STAMP),
    ("timestamp", "2024-01-02T03:04:05+02:00", STAMP),
    ("text[]", "DE", ("DE",)),
    ("text[]", ("DE", "FR"), ("DE", "FR")),
    ("integer[]", (), ()),
    ("integer[]", tuple(range(1000)), tuple(range(1000))),
    ("boolean[]", ("true", False), (True, False)),
    ("numeric[]", ("0.1",), (Decimal("0.1"),)),
    ("date[]", ("2024-01-02",), (dt.date(2024, 1, 2),)),
    ("timestamp[]", ("2024-01-02 03:04:05",), (STAMP,)),
]


@pytest.mark.parametrize(("kind", "value", "expected"), VALUES)
def test_a_value_becomes_what_its_attribute_declares(
    kind: AttributeType, value: AttributeValue, expected: BoundValue
) -> None:
    found = convert_value("x", value, Attribute(type=kind))
    assert found == expected
    assert type(found) is type(expected)


WRONG: list[tuple[AttributeType, AttributeValue]] = [
    ("boolean", "yes"),
    ("boolean", 1),
    ("text", 7),
    ("text", "a\0b"),
    ("text", "half of a pair: \udfff"),
    ("text", ("DE", "FR")),
    ("integer", True),
    ("integer", 1.0),
    ("integer", "1.5"),
    ("integer", ""),
    ("integer", "1 OR 1 = 1"),
    ("integer", "1 --"),
    ("integer", "1\0"),
    ("integer", float("nan")),
    ("integer", float("inf")),
    ("integer", (1, 2)),
    ("integer", 2**63),
    ("integer", -(2**63)),
    ("numeric", True),
    ("numeric", "NaN"),
    ("numeric", "Infinity"),
    ("numeric", "one"),
    ("date", "2024-13-01"),
    ("date", 20240102),
    ("timestamp", "yesterday"),
    ("timestamp", 0),
    ("text[]", ("DE", 7)),
    ("integer[]", tuple(range(1001))),
]


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_a_value_of_another_kind_is_refused(kind: AttributeType, value: AttributeValue) -> None:
    with pytest.raises(ValueError, match="The attribute x "):
        convert_value("x", value, Attribute(type=kind))


PLACEHOLDERS: list[tuple[AttributeType, str, str]] = [
    ("boolean", "CAST($1 AS boolean)", "CAST($1 AS boolean)"),
    ("date", "CAST($1 AS date)", "CAST($1 AS date)"),
    ("integer", "CAST($1 AS bigint)", "CAST($1 AS bigint)"),
    ("numeric", "CAST($1 AS numeric)", "$1"),
    ("text", "CAST($1 AS text)", "CAST($1 AS text)"),
    ("timestamp", "CAST($1 AS timestamp)", "CAST($1 AS timestamp)"),
    ("integer[]", "CAST($1 AS bigint[])", "CAST($1 AS bigint[])"),
    ("numeric[]", "CAST($1 AS numeric[])", "CAST($1 AS double[])"),
    ("text[]", "CAST($1 AS text[])", "CAST($1 AS text[])"),
]


@pytest.mark.parametrize(("kind", "postgres", "duckdb"), PLACEHOLDERS)
def test_a_placeholder_says_what_it_is_bound_as(
    kind: AttributeType, postgres: str, duckdb: str
) -> None:
    for dialect, expected in (("postgres", postgres), ("duckdb", duckdb)):
        parameters = Parameters({"x": 1}, {"x": Attribute(type=kind)}, dialect)
        assert parameters.fill(f"a = {render_slot('x')}") == f"a = {expected}"


def test_values_are_numbered_by_their_first_use_and_bound_once() -> None:
    attributes = {"x": Attribute(type="text"), "y": Attribute(type="integer[]")}
    values: dict[str, BoundValue] = {"x": "a", "y": (1, 2)}
    parameters = Parameters(values, attributes, "postgres")
    text = " ".join(render_slot(name) for name in ("y", "x", "y"))
    assert parameters.fill(text) == ("CAST($1 AS bigint[]) CAST($2 AS text) CAST($1 AS bigint[])")
    assert parameters.params == [(1, 2), "a"]


def test_sqlite_gets_each_value_of_a_list_and_what_it_can_store() -> None:
    attributes = {"x": Attribute(type="text[]"), "y": Attribute(type="numeric")}
    values: dict[str, BoundValue] = {
        "y": Decimal("1.5"),
        "x": ("a", "b"),
        "when": STAMP,
        "day": dt.date(2024, 1, 2),
        "none": (),
    }
    attributes |= {"when": Attribute(type="timestamp"), "day": Attribute(type="date")}
    attributes["none"] = Attribute(type="text[]")
    parameters = Parameters(values, attributes, "sqlite")
    slots = [parameters.fill(f"({render_slot(name)})") for name in ("y", "x", "when", "day", "x")]
    assert slots == ["(?1)", "(?2, ?3)", "(?4)", "(?5)", "(?2, ?3)"]
    assert parameters.fill(f"IN ({render_slot('none')})") == "IN ()"
    assert parameters.params == [1.5, "a", "b", "2024-01-02 03:04:05", "2024-01-02"]
    assert isinstance(parameters.params[0], float)


def test_a_value_that_is_lacking_is_named() -> None:
    with pytest.raises(Unresolved) as caught:
        Parameters({}, {"x": Attribute(type="text")}, "postgres").fill(render_slot("x"))
    assert caught.value.violation.code == "not_permitted"
    assert caught.value.violation.fragment == "x"


def test_people_read_names_in_the_place_of_slots() -> None:
    assert name_slots(f"a = {render_slot('x')}") == "a = :x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "t"),
        (7, "7"),
        ("DE", "DE"),
        (dt.date(2024, 1, 2), "2024-01-02"),
        (STAMP, "2024-01-02 03:04:05"),
        (Decimal("1.50"), "1.50"),
        ((), "{}"),
        ((1, 2**40), "{1,1099511627776}"),
        (("a\\b", 'c"d', ""), '{"a\\\\b","c\\"d",""}'),
    ],
)
def test_a_setting_is_postgresqls_own_text(value: BoundValue, text: str) -> None:
    assert render_setting(value) == text


def test_the_second_wall_reads_settings() -> None:
    attributes = {"o'x": Attribute(type="integer[]"), "y": Attribute(type="text")}
    text = " ".join(render_slot(name) for name in ("o'x", "y"))
    assert fill_from_settings(text, attributes) == (
        "CAST((SELECT NULLIF(current_setting('quorumsql.o''x', true), '')) AS bigint[]) "
        "CAST((SELECT NULLIF(current_setting('quorumsql.y', true), '')) AS text)"
    )
