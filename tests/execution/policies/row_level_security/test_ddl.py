"""Row-level security as text: which statements a policy becomes, and which names it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from execution.policies.row_level_security.blocks import (
    ScriptStatement,
    build_removal,
    render_roles,
    render_script,
)
from execution.policies.row_level_security.ddl import RowSecurity, build_row_security
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.errors import PolicyError
from nl2sql.sql.names import quote_literal
from tests.execution.policies.shop import compile_shop
from tests.fakes import ORDERS, SHOP, build_table

_ATTRIBUTES = {
    "country": {"type": "text"},
    "sellers": {"type": "integer[]"},
    "since": {"type": "date"},
}

_IN_SQLITE = {
    "row_filters": {"sales.employees": "id IN :sellers", "sales.orders": "seller_id IN :sellers"}
}

_VIEW = Table(
    "sales",
    "open_orders",
    build_table("sales.open_orders", "id integer", "seller_id integer", "note text").columns,
    kind="view",
    definition="SELECT id, seller_id, status AS note FROM sales.orders WHERE status = 'open'",
)


def build(catalog: Catalog = SHOP, **changes: Any) -> RowSecurity:
    return build_row_security(compile_shop(catalog, **changes), reader="reader", indexer="indexer")


def list_texts(security: RowSecurity, part: str) -> list[str]:
    return [statement.text for statement in security.statements if part in statement.text]


def list_notes(security: RowSecurity) -> str:
    return "\n".join(statement.note for statement in security.statements)


@pytest.mark.parametrize(
    ("changes", "column", "reason"),
    [
        (
            {"clerk": {"hidden_columns": ["sales.customers.country"]}},
            "sales.customers.country",
            "the filter reads it",
        ),
        (
            {"clerk": {"hidden_columns": ["sales.customers.id"]}},
            "sales.customers.id",
            "sales.orders inherits over it",
        ),
        (
            {"clerk": {"masked_columns": ["sales.orders.customer_id"]}},
            "sales.orders.customer_id",
            "it leads to the parent row",
        ),
    ],
    ids=["filter", "target", "key"],
)
def test_a_column_that_only_the_wrapper_reads_is_granted_and_told(
    changes: dict[str, Any], column: str, reason: str
) -> None:
    security = build(**changes)
    said = f"{column} is granted although the role does not see it: {reason}."
    (grant,) = [statement.text for statement in security.statements if said in statement.note]
    assert f'"{column.rpartition(".")[2]}"' in grant


def test_a_view_of_the_databases_is_not_granted_when_the_guard_expands_it() -> None:
    catalog = replace(SHOP, tables=(*SHOP.tables, _VIEW))
    visible = ["sales.employees", "sales.orders", "sales.open_orders"]
    security = build(catalog, seller={"tables": {"visible": visible}})
    assert list_texts(security, 'ON "sales"."open_orders" TO "quorumsql_shop_seller"') == []
    assert "Not granted: sales.open_orders, a view" in list_notes(security)


def test_a_view_with_a_filter_of_its_own_is_granted_and_told() -> None:
    catalog = replace(SHOP, tables=(*SHOP.tables, _VIEW))
    security = build(
        catalog,
        seller={
            "tables": {"visible": ["sales.open_orders"]},
            "row_filters": {"sales.open_orders": "seller_id = ANY(:sellers)"},
            "masked_columns": ["sales.open_orders.note"],
        },
    )
    assert (
        'GRANT SELECT ("id", "seller_id") ON "sales"."open_orders" TO "quorumsql_shop_seller"'
    ) in list_texts(security, "GRANT SELECT")
    assert "sales.open_orders is a view: only the guard filters its rows." in list_notes(security)
    assert "sales.open_orders" not in security.guarded


def test_the_schema_of_a_masked_columns_type_may_be_used() -> None:
    total = Column("total", '"Odd ""types".money')
    orders = replace(ORDERS, columns=(*ORDERS.columns[:-1], total))
    tables = tuple(orders if table is ORDERS else table for table in SHOP.tables)
    assert ('GRANT USAGE ON SCHEMA "Odd ""types" TO "quorumsql_shop_clerk"') in list_texts(
        build(replace(SHOP, tables=tables)), "GRANT USAGE"
    )


@pytest.mark.parametrize(
    ("catalog", "changes", "said"),
    [
        (replace(SHOP, dialect="sqlite"), {"seller": _IN_SQLITE}, "not a PostgreSQL database"),
        (replace(SHOP, database="d" * 54), {}, "longer than 63 bytes"),
        (replace(SHOP, database="ü" * 24), {}, "longer than 63 bytes"),
        (SHOP, {"attributes": {**_ATTRIBUTES, "Country": {"type": "text"}}}, "the same setting"),
        (SHOP, {"attributes": {**_ATTRIBUTES, "no-id": {"type": "text"}}}, "'no-id'"),
    ],
    ids=["sqlite", "long", "long_in_bytes", "one_setting", "no_setting"],
)
def test_what_postgresql_could_not_tell_apart_is_refused(
    catalog: Catalog, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        build(catalog, **changes)
    assert said in str(caught.value)


def test_the_index_needs_another_login_than_the_reader() -> None:
    with pytest.raises(PolicyError, match="both the reader and the indexer of shop"):
        build_row_security(compile_shop(SHOP), reader="one", indexer="one")


def test_the_digest_is_the_policys() -> None:
    assert build().digest == build().digest
    other = build(clerk={"row_filters": {"sales.customers": "country <> :country"}})
    assert build().digest != other.digest
    assert build().digest in build().script[-1].text


def test_a_script_is_one_transaction_and_a_name_cannot_end_its_comment() -> None:
    script = render_script([ScriptStatement("SELECT 1", "a\nDROP TABLE b")], head="head")
    assert script == "-- head\nBEGIN;\n-- a\n-- DROP TABLE b\nSELECT 1;\nCOMMIT;\n"


@pytest.mark.parametrize("name", ["it's", "$quorumsql$; DROP ROLE x; --", 'a"b', "a%sb", "{0}"])
def test_no_name_ends_a_block(name: str) -> None:
    removal = [statement.text for statement in build_removal(name)]
    for block in (*removal, render_roles(name, [name], name)):
        tag = block.removeprefix("DO ").partition("\n")[0]
        assert block.count(tag) == 2
        assert block.endswith(tag)
        assert quote_literal(name)[1:] in block
