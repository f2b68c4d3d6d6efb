"""The schema as the model reads it."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog
from nl2sql.names import quote_name
from nl2sql.schema_text import render_schema
from tests.fakes import SHOP, build_context, build_key, build_table
from tests.golden import load_text

ENOUGH = 100_000


def test_the_whole_shop_reads_as_in_the_golden_file() -> None:
    assert render_schema(build_context(), budget_chars=ENOUGH) == load_text("schema_text.sql")


def test_without_comments_no_comment_is_left() -> None:
    assert "--" not in render_schema(build_context(), comments=False, budget_chars=ENOUGH)


def test_tables_come_in_name_order_whatever_their_rank() -> None:
    one = build_context(tables=("stock.products", "sales.orders", "sales.customers"))
    other = build_context(tables=("sales.customers", "stock.products", "sales.orders"))
    text = render_schema(one, budget_chars=ENOUGH)
    assert text == render_schema(other, budget_chars=ENOUGH)
    assert [line.split()[2] for line in text.splitlines() if line.startswith("CREATE")] == [
        "customers",
        "orders",
        "products",
    ]


@pytest.mark.parametrize(
    ("budget", "kept"),
    [(ENOUGH, 3), (0, 1), (1, 1)],
    ids=["all_fit", "the_best_is_always_kept", "no_room"],
)
def test_the_budget_bounds_the_tables(budget: int, kept: int) -> None:
    context = build_context(tables=("stock.products", "sales.employees", "sales.customers"))
    assert render_schema(context, budget_chars=budget).count("CREATE TABLE") == kept


def test_the_lowest_rank_goes_first() -> None:
    context = build_context(tables=("stock.products", "sales.employees", "sales.customers"))
    full = render_schema(context, budget_chars=ENOUGH)
    text = render_schema(context, budget_chars=len(full) - 20)
    assert "CREATE TABLE products" in text
    assert "CREATE TABLE employees" in text
    assert "customers" not in text


def test_a_text_within_the_budget_is_never_longer_than_it() -> None:
    context = build_context()
    for budget in range(300, 1500, 100):
        text = render_schema(context, budget_chars=budget)
        assert len(text) <= budget


def test_a_key_to_a_table_out_of_sight_is_not_shown() -> None:
    text = render_schema(build_context(tables=("sales.orders",)), budget_chars=ENOUGH)
    assert "REFERENCES" not in text


def test_a_composite_key_stands_on_its_own_lines() -> None:
    context = build_context(tables=("sales.order_lines", "stock.returns"))
    text = render_schema(context, budget_chars=ENOUGH)
    assert "  PRIMARY KEY (order_id, line_no)\n" in text
    assert "  FOREIGN KEY (order_id, line_no) REFERENCES order_lines(order_id, line_no)\n" in text


def test_a_table_off_the_search_path_keeps_its_schema() -> None:
    catalog = Catalog("shop", SHOP.tables, SHOP.foreign_keys, search_path=("sales",))
    text = render_schema(build_context(catalog), budget_chars=ENOUGH)
    assert "CREATE TABLE stock.products (" in text
    assert "REFERENCES stock.products(id)" in text


def test_a_wide_table_keeps_its_first_columns_and_its_keys() -> None:
    wide = build_table("sales.wide", *(f"c{number} integer" for number in range(100)), key=("c90",))
    target = build_table("sales.target", "id integer", key=("id",))
    catalog = Catalog(
        "shop",
        (wide, target),
        (build_key("sales.wide(c80)", "sales.target(id)"),),
        search_path=("sales",),
    )
    text = render_schema(build_context(catalog), budget_chars=ENOUGH)
    shown = {line.split()[0] for line in text.splitlines() if line.startswith("  c")}
    assert shown == {f"c{number}" for number in (*range(60), 80, 90)}


def test_a_long_comment_is_cut_and_stays_on_its_line() -> None:
    table = build_table("sales.t", "id integer", comment="many\nwords " * 40)
    text = render_schema(build_context(Catalog("shop", (table,))), budget_chars=ENOUGH)
    first, _, _ = text.partition("\n")
    assert first.endswith("…")
    assert 100 < len(first) < 300


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("amount", "amount"),
        ("line_2", "line_2"),
        ("Order Total", '"Order Total"'),
        ("OrderTotal", '"OrderTotal"'),
        ("2nd", '"2nd"'),
        ("größe", '"größe"'),
        ('a"b', '"a""b"'),
        ("a-b", '"a-b"'),
        ("", '""'),
        ("order", '"order"'),
        ("user", '"user"'),
    ],
    ids=[
        "plain",
        "digit",
        "space",
        "capitals",
        "digit_first",
        "letters_beyond_ascii",
        "quote",
        "hyphen",
        "empty",
        "keyword",
        "function_keyword",
    ],
)
def test_a_name_is_quoted_where_postgresql_would_not_read_it(name: str, quoted: str) -> None:
    assert quote_name(name) == quoted


@pytest.mark.parametrize("name", ["Orders", "order", "two words"])
def test_a_table_name_is_quoted_too(name: str) -> None:
    catalog = Catalog("shop", (build_table(f"sales.{name}", "id integer"),), search_path=("sales",))
    text = render_schema(build_context(catalog), budget_chars=ENOUGH)
    assert text.startswith(f'CREATE TABLE "{name}" (')
