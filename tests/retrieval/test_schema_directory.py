"""What principals may know of databases without a question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable, PolicyError
from nl2sql.types import Principal, Violation
from retrieval.schema_directory import TableDescriptions
from tests.fakes import SHOP, build_violation
from tests.retrieval.directories import build_directory

MIA = Principal("mia")
ERROR = IndexUnavailable("It has not been indexed.")
REFUSED = build_violation("not_permitted")


class Visible:
    """A visibility that shows a catalog, refuses or raises, by database."""

    def __init__(self, **databases: Catalog | Violation | Exception) -> None:
        self._databases = databases

    async def visible_catalog(self, database: str, principal: Principal) -> Catalog | Violation:
        found = self._databases[database]
        if isinstance(found, Exception):
            raise found
        return found

    async def open_columns(self, database: str, principal: Principal) -> frozenset[str] | None:
        return None

    async def describe_rows(
        self, database: str, principal: Principal, tables: Any
    ) -> tuple[tuple[str, str], ...]:
        return tuple((name, "id = 1") for name in tables if name == "sales.orders")

    async def masked_columns(
        self, database: str, principal: Principal, table: str
    ) -> frozenset[str]:
        return frozenset({"total", "status"} if table == "sales.orders" else ())


async def describe(*names: str, most: int = 10) -> TableDescriptions:
    directory = build_directory(Visible(shop=SHOP))
    found = await directory.describe_tables("shop", names, MIA, most)
    assert isinstance(found, TableDescriptions)
    return found


async def test_admitted_are_the_databases_with_a_visible_table() -> None:
    visible = Visible(
        shop=SHOP, empty=replace(SHOP, tables=()), refused=REFUSED, broken=ERROR, other=SHOP
    )
    names = ("broken", "shop", "empty", "refused", "other")
    assert await build_directory(visible).list_admitted(names, MIA) == ("shop", "other")
    assert await build_directory(visible).list_admitted(("refused",), MIA) == ()
    assert await build_directory(visible).list_admitted(("refused", "broken"), MIA) == ()
    assert await build_directory(visible).list_admitted((), MIA) == ()


@pytest.mark.parametrize("error", [ERROR, PolicyError("It names no table.")])
async def test_if_no_database_can_be_read_that_is_an_error(error: Exception) -> None:
    directory = build_directory(Visible(one=error, two=error))
    with pytest.raises(type(error)):
        await directory.list_admitted(("one", "two"), MIA)


async def test_a_table_comes_with_its_keys_rules_and_masks() -> None:
    found = await describe("Orders")
    assert [table.qualified for table in found.tables] == ["sales.orders"]
    assert found.names == ("orders",)
    assert {key.target for key in found.foreign_keys} == {"sales.customers", "sales.employees"}
    assert found.row_rules == (("sales.orders", "id = 1"),)
    assert found.masks == (("sales.orders", ("status", "total")),)
    assert found.total == 6


async def test_names_repeat_and_are_unknown() -> None:
    found = await describe("orders", "sales.orders", "nowhere", "stock.orders")
    assert len(found.tables) == 1
    assert found.unknown == ("nowhere", "stock.orders")


async def test_without_names_all_tables_are_described_up_to_a_limit() -> None:
    assert len((await describe()).tables) == 6
    found = await describe(most=2)
    assert len(found.tables) == 2
    assert found.total == 6
