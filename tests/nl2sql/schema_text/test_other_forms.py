"""The names-only form, and what holds for both."""

from __future__ import annotations

import pytest

from nl2sql.schema_text import Form, render_schema
from tests.fakes import SHOP, build_context


def test_the_names_only_form_is_a_line_a_table() -> None:
    context = build_context(tables=("sales.customers", "stock.products"))
    assert render_schema(context, form="names").splitlines() == [
        'customers(id, name, country, "Loyalty Tier")',
        "products(id, name, category, price, tags)",
    ]


@pytest.mark.parametrize("form", ["ddl", "names"])
def test_every_form_is_the_same_whatever_the_order_of_what_was_found(form: Form) -> None:
    names = [table.qualified for table in SHOP.tables]
    forth = build_context(tables=names)
    back = build_context(tables=names[::-1], foreign_keys=SHOP.foreign_keys[::-1])
    text = render_schema(forth, form=form)
    assert text == render_schema(back, form=form)
    assert text.index("customers") < text.index("products")
