"""The DDL form, which is the one that models have seen most of, and the names alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.schema_text import render_schema
from tests.fakes import SHOP, build_context, build_key, build_table
from tests.golden import load_text


def test_the_whole_shop_reads_as_in_the_golden_file() -> None:
    assert render_schema(build_context()) == load_text("schema_text.sql")


def test_a_composite_key_stands_on_its_own_lines() -> None:
    context = build_context(tables=("sales.order_lines", "stock.returns"))
    text = render_schema(context)
    assert " PRIMARY KEY (order_id, line_no)\n" in text
    assert " FOREIGN KEY (order_id, line_no) REFERENCES order_lines(order_id, line_no)\n" in text


def test_a_table_off_the_search_path_keeps_its_schema() -> None:
    catalog = Catalog("shop", SHOP.tables, SHOP.foreign_keys, search_path=("sales",))
    text = render_schema(build_context(catalog))
    assert "CREATE TABLE stock.products (" in text
    assert "REFERENCES stock.products(id)" in text


def test_a_pruned_table_keeps_what_the_plan_names_and_other_tables_all() -> None:
    context = build_context(tables=("sales.customers", "sales.orders"))
    text = render_schema(context, columns=(("sales.orders", ("id", "customer_id")),))
    assert text.endswith(
        "CREATE TABLE orders ( -- What customers ordered\n"
        " id integer PRIMARY KEY,\n"
        " customer_id integer REFERENCES customers(id),\n"
        ");"
    )
    assert '"Loyalty Tier" text' in text


def test_a_key_that_nothing_declares_is_told_as_likely() -> None:
    line_no = build_key("stock.returns(line_no)", "sales.order_lines(line_no)")
    pair = build_key("stock.returns(order_id, line_no)", "sales.order_lines(order_id, line_no)")
    context = build_context(
        tables=("stock.returns", "sales.order_lines"),
        foreign_keys=(replace(line_no, inferred=True), replace(pair, inferred=True)),
    )
    text = render_schema(context, comments=False)
    assert " line_no integer, -- likely references order_lines(line_no)\n" in text
    assert "\n -- (order_id, line_no) likely references order_lines(order_id, line_no)\n" in text
    assert " REFERENCES " not in text


def test_glosses_stand_beside_comments() -> None:
    context = build_context(
        tables=("sales.orders",),
        glosses=(
            ("sales.orders", "[DOC]"),
            ("sales.orders.status", "values: 'open', 'shipped'"),
            ("sales.orders.total", "in euros"),
            ("stock.products.name", "elsewhere"),
        ),
    )
    text = render_schema(context)
    assert "CREATE TABLE orders ( -- What customers ordered; [DOC]\n" in text
    assert "status text, -- open, shipped or cancelled; values: 'open', 'shipped'\n" in text
    assert "total numeric, -- in euros\n" in text
    assert "elsewhere" not in text
    bare = render_schema(context, comments=False)
    assert "CREATE TABLE orders ( -- [DOC]\n" in bare
    assert "in euros" in bare
    assert "What customers ordered" not in bare


def test_a_long_comment_is_cut_and_stays_on_its_line() -> None:
    table = build_table("sales.t", "id integer", comment="many\nwords " * 40)
    text = render_schema(build_context(Catalog("shop", (table,))))
    first, _, _ = text.partition("\n")
    assert first.endswith("…")
    assert 100 < len(first) < 300


def test_a_name_with_a_line_break_does_not_break_out_of_a_comment() -> None:
    tables = (build_table("s.a\nb", "id integer"), build_table("s.t", "a_id integer"))
    key = ForeignKey("", "s.t", ("a_id",), "s.a\nb", ("id",), inferred=True)
    catalog = Catalog("shop", tables, search_path=("s",))
    text = render_schema(build_context(catalog, foreign_keys=(key,)))
    assert ' a_id integer, -- likely references "a b"(id)\n' in text


BRIEF: dict[str, Any] = {"catalog_tables": 90}
"""Of a database of many tables."""


def test_of_a_large_database_a_table_without_comments_is_a_line() -> None:
    context = build_context(
        tables=("sales.employees", "sales.order_lines", "sales.orders"), **BRIEF
    )
    lines = render_schema(context).splitlines()
    assert lines[0] == (
        "CREATE TABLE employees (id integer PRIMARY KEY, name text, "
        "manager_id integer REFERENCES employees(id));"
    )
    assert lines[1].endswith(" price numeric, PRIMARY KEY (order_id, line_no));")
    assert " status text, -- open, shipped or cancelled" in lines


def test_types_are_as_short_as_sql_has_them() -> None:
    types = ("character varying(80)", "timestamp without time zone", "enum('a', 'b')")
    catalog = Catalog("shop", (Table("main", "t", tuple(map(Column, "abc", types))),))
    assert render_schema(build_context(catalog, **BRIEF)).endswith(
        "(a varchar, b timestamp, c enum('a', 'b'));"
    )
    assert " a varchar,\n b timestamp,\n c enum('a', 'b'),\n" in render_schema(
        build_context(catalog)
    )


def test_what_is_shared_comes_first_and_reads_the_same_beside_other_tables() -> None:
    shared = ("sales.orders", "sales.order_lines")
    alone = render_schema(build_context(tables=shared, shared=shared, **BRIEF))
    beside = render_schema(
        build_context(tables=("sales.customers", *shared), shared=shared, **BRIEF)
    )
    assert beside.startswith(f"{alone}\nCREATE TABLE customers (")
    assert beside.endswith("\n-- orders.customer_id references customers(id)")


def test_a_short_table_has_neither_types_nor_keys_that_its_names_tell() -> None:
    catalog = Catalog(
        "shop",
        (
            build_table("main.staff", "staff_id integer", "name text", key=("staff_id",)),
            build_table(
                "main.visits", "visit_id integer", "staff_id integer", "guest integer", "day date"
            ),
        ),
        (
            build_key("main.visits(staff_id)", "main.staff(staff_id)"),
            build_key("main.visits(guest)", "main.staff(staff_id)"),
        ),
        search_path=("main",),
    )
    context = build_context(catalog, **BRIEF)
    short = replace(context, tables=tuple(replace(hit, short=True) for hit in context.tables))
    assert render_schema(short).splitlines() == [
        "CREATE TABLE staff (staff_id, name);",
        "CREATE TABLE visits (visit_id, staff_id, guest REFERENCES staff(staff_id), day);",
    ]


def test_the_order_of_what_was_found_does_not_matter() -> None:
    names = [table.qualified for table in SHOP.tables]
    forth = build_context(tables=names)
    back = build_context(tables=names[::-1], foreign_keys=SHOP.foreign_keys[::-1])
    text = render_schema(forth)
    assert text == render_schema(back)
    assert text.index("customers") < text.index("products")
