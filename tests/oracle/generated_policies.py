"""A policy for any database, the same at every run: what a name's checksum says decides.

Two roles. ``member`` is filtered: some tables are shared by all, a few hidden, some inherit over a
foreign key, the rest have a filter of their own over some column. ``reader`` sees most rows of most
tables. In both, some columns are hidden or read as NULL.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import Principal

PRINCIPALS = (
    Principal("member", ("member",), (("parity", 0), ("letter", "m"))),
    Principal("other_member", ("member",), (("parity", 1), ("letter", "f"))),
    Principal("reader", ("reader",)),
    Principal("both", ("member", "reader"), (("parity", 1), ("letter", "t"))),
)


def build_policy(catalog: Catalog) -> dict[str, Any]:
    """The policy in the form of a policy file."""
    tables = [table for table in catalog.tables if table.kind == "table"]
    chances = {table.qualified: _draw(table.qualified) for table in tables}
    hidden = [name for name, chance in chances.items() if chance >= 95]
    shared = [name for name, chance in chances.items() if chance < 15]
    filters: dict[str, str] = {}
    inherit: dict[str, dict[str, Any]] = {}
    open_tables = [table for table in tables if 15 <= chances[table.qualified] < 95]
    for table in open_tables:
        if chances[table.qualified] >= 55 or not _list_targets(catalog, table):
            filters[table.qualified] = _build_filter(table)
    _add_inheritance(
        catalog, [t for t in open_tables if t.qualified not in filters], filters, inherit
    )
    for table in open_tables:
        if table.qualified not in inherit and table.qualified not in filters:
            filters[table.qualified] = _build_filter(table)
    return {
        "version": 1,
        "database": catalog.database,
        "attributes": {"parity": {"type": "integer"}, "letter": {"type": "text"}},
        "shared": shared,
        "roles": {
            "member": {
                "tables": {"visible": [*filters, *inherit]},
                "rows": "filtered",
                "row_filters": filters,
                "inherit": inherit,
                "hidden_columns": list(_choose_columns(tables, "hide", 4, hidden)),
                "masked_columns": list(_choose_columns(tables, "mask", 8, hidden)),
            },
            "reader": {
                "tables": {"visible": "*", "hidden": hidden},
                "rows": "all",
                "row_filters": {
                    table.qualified: _build_filter(table, attributes=False)
                    for table in tables
                    if _draw(f"{table.qualified} reader") < 25 and table.qualified not in hidden
                },
                "masked_columns": list(_choose_columns(tables, "reader", 5, hidden)),
            },
        },
    }


def _draw(text: str) -> int:
    """A number from 0 to 99 that depends on the text alone."""
    return zlib.crc32(text.encode()) % 100


def _list_targets(catalog: Catalog, table: Table) -> list[tuple[tuple[str, ...], str]]:
    return [
        (key.columns, key.target)
        for key in catalog.foreign_keys
        if key.table == table.qualified and key.target != table.qualified
    ]


def _add_inheritance(
    catalog: Catalog,
    waiting: list[Table],
    filters: Mapping[str, str],
    inherit: dict[str, dict[str, Any]],
) -> None:
    """Adds to ``inherit`` every table that has a key to a table already decided."""
    grows = True
    while grows:
        grows = False
        for table in waiting:
            if table.qualified in inherit:
                continue
            for columns, target in _list_targets(catalog, table):
                if target in filters or target in inherit:
                    inherit[table.qualified] = {"columns": list(columns), "references": target}
                    grows = True
                    break


def _build_filter(table: Table, *, attributes: bool = True) -> str:
    """A condition that about half of the rows meet, over a column drawn by the table's name."""
    numbers = [column for column in table.columns if _is_integer(column)]
    texts = [column for column in table.columns if _is_text(column)]
    draw = _draw(f"{table.qualified} filter")
    parity, letter = (":parity", ":letter") if attributes else ("0", "'q'")
    if texts and (not numbers or draw < 35):
        name = _quote(texts[draw % len(texts)].name)
        if draw % 2:
            return f"length({name}) % 2 = {parity}"
        return f"{name} < {letter} OR {name} IS NULL"
    if numbers:
        name = _quote(numbers[draw % len(numbers)].name)
        return f"{name} % 2 = {parity}" if draw % 3 else f"NOT ({name} % 3 = 1) OR {name} IS NULL"
    name = _quote(table.columns[0].name)
    return f"{name} IS NOT NULL"


def _quote(name: str) -> str:
    # Always: a name may be a keyword to one of those who read the filter.
    return '"' + name.replace('"', '""') + '"'


def _choose_columns(tables: list[Table], salt: str, share: int, hidden: list[str]) -> Iterator[str]:
    """Some ``share`` of a hundred columns, of no primary key."""
    for table in tables:
        if table.qualified not in hidden:
            for column in table.columns[1:]:
                name = f"{table.qualified}.{column.name}"
                if column.name not in table.primary_key and _draw(f"{name} {salt}") < share:
                    yield name


def _is_integer(column: Column) -> bool:
    return column.type.lower().startswith(("int", "bigint", "smallint"))


def _is_text(column: Column) -> bool:
    return column.type.lower().startswith(("text", "char", "varchar"))
