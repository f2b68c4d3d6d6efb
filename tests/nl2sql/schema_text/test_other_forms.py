"""M-Schema and the names-only form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Catalog
from nl2sql.schema_text import Form, render_schema
from tests.fakes import SHOP, build_context, build_key, build_table
from tests.golden import load_text

VALUES = (
    ("sales.orders.status", "[CODE]"),
    ("sales.orders.status", "values: 'open', 'shipped'"),
)


def test_the_whole_shop_as_m_schema_reads_as_in_the_golden_file() -> None:
    text = render_schema(build_context(glosses=VALUES), form="m_schema", database="shop")
    assert text == load_text("schema_text_m_schema.txt")


def test_m_schema_without_comments_tells_names_types_and_keys_only() -> None:
    context = build_context(tables=("sales.orders", "sales.customers"))
    text = render_schema(context, form="m_schema", comments=False, database="shop")
    assert "(status:TEXT),\n" in text
    assert "# Table: orders\n" in text
    assert text.endswith("【Foreign keys】\norders.customer_id=customers.id")


def test_m_schema_without_keys_has_no_list_of_them() -> None:
    text = render_schema(build_context(tables=("sales.orders",)), form="m_schema")
    assert "Foreign keys" not in text


def test_m_schema_marks_an_inferred_key() -> None:
    key = replace(build_key("sales.orders(seller_id)", "sales.customers(id)"), inferred=True)
    text = render_schema(build_context(foreign_keys=(key,)), form="m_schema")
    assert text.endswith("【Foreign keys】\norders.seller_id=customers.id (likely)")


def test_m_schema_of_a_column_without_a_type() -> None:
    table = build_table("main.t", "a integer")
    bare = replace(table, columns=(replace(table.columns[0], type=""),))
    catalog = Catalog("shop", (bare,), dialect="sqlite", search_path=("main",))
    assert "(a)\n" in render_schema(build_context(catalog), form="m_schema")


def test_m_schema_keeps_the_case_of_values_in_a_type() -> None:
    catalog = Catalog("shop", (build_table("main.t", "a enum('One','two')"),))
    assert "(a:ENUM('One','two'))\n" in render_schema(build_context(catalog), form="m_schema")


def test_the_names_only_form_is_a_line_a_table() -> None:
    context = build_context(tables=("sales.customers", "stock.products"))
    assert render_schema(context, form="names").splitlines() == [
        'customers(id, name, country, "Loyalty Tier")',
        "products(id, name, category, price, tags)",
    ]


@pytest.mark.parametrize("form", ["ddl", "m_schema", "names"])
def test_every_form_is_the_same_whatever_the_order_of_what_was_found(form: Form) -> None:
    names = [table.qualified for table in SHOP.tables]
    forth = build_context(tables=names)
    back = build_context(tables=names[::-1], foreign_keys=SHOP.foreign_keys[::-1])
    text = render_schema(forth, form=form)
    assert text == render_schema(back, form=form)
    assert text.index("customers") < text.index("products")
