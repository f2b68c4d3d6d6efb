"""Each rule of the glosses, golden."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog, Column
from nl2sql.units import find_unit
from retrieval.glosses import build_glosses, find_mark, render_enumeration
from retrieval.vocabulary.synonyms import Synonyms
from retrieval.vocabulary.terms import expand_name, load_codes, load_names, related_words
from tests.fakes import build_table


@pytest.mark.parametrize(
    ("name", "declared", "mark"),
    [
        ("order_id", "integer", "[ID]"),
        ("ref", "uuid", "[ID]"),
        ("net_amt", "numeric(14,2)", "[AMT]"),
        ("unit_price", "REAL", "[AMT]"),
        ("salary", "integer", "[AMT]"),
        ("order_qty", "integer", "[QTY]"),
        ("numberOfSeats", "int", "[QTY]"),
        ("fte_pct", "integer", "[PCT]"),
        ("tax_rate", "numeric", "[PCT]"),
        ("hire_dt", "date", "[DATE]"),
        ("hire_date", "text", "[DATE]"),
        ("created", "timestamp with time zone", "[TIME]"),
        ("is_active", "smallint", "[FLAG]"),
        ("active", "boolean", "[FLAG]"),
        ("paid_flg", "char(1)", "[FLAG]"),
        ("cust_no", "character varying(10)", "[CODE]"),
        ("country_code", "character(2)", "[CODE]"),
        ("first_name", "text", ""),
        ("total_hours", "interval", ""),
        ("price_points", "integer[]", ""),
        ("sorting", "text", ""),
    ],
)
def test_kinds(name: str, declared: str, mark: str) -> None:
    assert find_mark(Column(name, declared), "postgres") == mark


def test_keys_come_before_kinds() -> None:
    assert find_mark(Column("no", "integer"), "postgres", is_key=True) == "[ID]"
    assert find_mark(Column("order_id", "integer"), "postgres", target="orders") == "[FK→orders]"


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("net_weight_kg", "kg"),
        ("lead_time_days", "days"),
        ("duration_ms", "milliseconds"),
        ("price_eur", "EUR"),
        ("fte_pct", "percent"),
        ("pay_month", ""),
        ("kg", ""),
        ("address", ""),
    ],
)
def test_units(name: str, unit: str) -> None:
    assert find_unit(name) == unit


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cust_no", "customer number"),
        ("acctBal", "account balance"),
        ("PO_HDR", "purchase order header"),
        ("dept_mgr", "department manager"),
        ("no_show", "no show"),
        ("orders", "order"),
    ],
)
def test_abbreviations(name: str, words: str) -> None:
    assert expand_name(name) == words


def test_the_packaged_lists_are_whole() -> None:
    assert len(load_names()) > 200
    assert all(words and short not in words for short, words in load_names().items())
    assert load_codes()["cxl"] == ("cancelled", "canceled")
    assert "vendor" in related_words("supplier")
    assert related_words("xyzzy") == frozenset()


@pytest.mark.parametrize(
    ("values", "comment", "text"),
    [
        (("a", "b"), "", "values: 'a', 'b'"),
        (("a\nb",), "", "values: 'a b'"),
        (("ACT", "LOA"), "ACT = active, LOA = away", ""),
        (tuple(str(n) for n in range(13)), "", ""),
        (("x" * 201,), "", ""),
        ((), "", ""),
    ],
)
def test_enumerations(values: tuple[str, ...], comment: str, text: str) -> None:
    assert render_enumeration(values, comment) == text


CATALOG = Catalog("d", (build_table("s.cust", "cust_no text", "name text", "plan_qty integer"),))


def test_the_index_gets_words_only_where_there_are_others() -> None:
    synonyms = Synonyms(tables={"s.cust": ("patron",)}, columns={"s.cust.name": ("who",)})
    assert build_glosses(CATALOG, synonyms) == {
        "s.cust": "customer, patron",
        "s.cust.cust_no": "customer number",
        "s.cust.name": "who",
        "s.cust.plan_qty": "plan quantity",
    }
