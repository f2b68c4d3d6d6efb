"""Queries made to fail on some values, or to be tried by a planner on values that it has sampled.

A condition over one column (``probe_conditions_*.sql``) in one place of a query
(``probe_places.sql``). What a condition compares with is a value that hidden rows hold on one of
the two sides: one of ``hidden_values.py``, or one that was read from the database.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.sql.names import quote_name
from tests.oracle.corpus import Query
from tests.oracle.templates import fill_template, load_templates

PLACES = load_templates("probe_places")
CONDITIONS = {
    dialect: load_templates("probe_conditions_common", f"probe_conditions_{dialect}")
    for dialect in ("postgres", "sqlite", "duckdb")
}

# Beginnings of declared types, in lower case, and the kind of condition that fits them.
_KINDS = (
    ("text[]", "array"),
    ("text", "text"),
    ("varchar", "text"),
    ("character", "text"),
    ("numrange", "range"),
    ("int", "number"),
    ("bigint", "number"),
    ("smallint", "number"),
    ("numeric", "number"),
    ("decimal", "number"),
    ("real", "number"),
    ("double", "number"),
    ("date", "date"),
    ("timestamp", "date"),
    ("jsonb", "json"),
    ("inet", "inet"),
    ("bytea", "bytes"),
)

Values = Mapping[str, Sequence[object]]
"""Qualified column → some of its values."""


def draw_probes(catalog: Catalog, values: Values, rng: random.Random) -> Iterator[Query]:
    """Probes over the catalog's tables, each drawn on its own, without end.

    Raises ValueError where no column has a type that any condition is for.
    """
    columns = [
        (table, column, kind)
        for table in catalog.tables
        for column in table.columns
        if (kind := _find_kind(column))
    ]
    if not columns:
        raise ValueError(f"{catalog.database} has no column to probe")
    conditions: dict[str, list[str]] = {}
    for name in CONDITIONS[catalog.dialect]:
        conditions.setdefault(name.partition("_")[0], []).append(name)
    while True:
        table, column, kind = rng.choice(columns)
        name, place = rng.choice(conditions[kind]), rng.choice([*PLACES])
        known = values.get(f"{table.qualified}.{column.name}", ())
        text = build_probe(catalog, table, column, name, place, _draw_value(kind, known, rng), rng)
        if text:
            yield Query(f"{table.qualified}.{column.name}", f"{name} in {place}", text)


def build_probe(
    catalog: Catalog,
    table: Table,
    column: Column,
    condition: str,
    place: str,
    value: object,
    rng: random.Random,
) -> str:
    """One probe; empty where the place wants a foreign key and the table has none."""

    def quote(name: str) -> str:
        return quote_name(name, catalog.dialect)

    text = str(value)
    fills = {
        "c": f"a.{quote(column.name)}",
        "v": "'" + text.replace("'", "''") + "'" if _find_kind(column) == "text" else text,
        "w": (text[:4] or "x").replace("'", "''"),
    }
    rendered = fill_template(CONDITIONS[catalog.dialect][condition], fills)
    key = table.primary_key[0] if table.primary_key else table.columns[0].name
    slots = {
        "t": catalog.short_names[table.qualified],
        "k": quote(key),
        "c": quote(column.name),
        "p": rendered.replace("{{", "{").replace("}}", "}"),
    }
    keys = [
        foreign_key for foreign_key in catalog.foreign_keys if foreign_key.table == table.qualified
    ]
    if keys:
        chosen = rng.choice(keys)
        slots["u"] = catalog.short_names.get(chosen.target, "")
        slots["tk"], slots["uk"] = quote(chosen.columns[0]), quote(chosen.target_columns[0])
    return fill_template(PLACES[place], slots)


def _draw_value(kind: str, known: Sequence[object], rng: random.Random) -> object:
    if known and rng.random() < 0.5:
        return rng.choice(known)
    if kind == "number":
        return rng.choice((7777, 0, 5, 1))
    return rng.choice(("hida7", "hidb", "aaaa", "12x"))


def _find_kind(column: Column) -> str:
    declared = column.type.lower()
    if declared == "text[]":
        return "array"
    return next((kind for start, kind in _KINDS if declared.startswith(start)), "")
