"""Queries made for a table rather than found: each names it in a place of its own.

The templates have the table as ``{t}`` (as the search path finds it) and as ``{qualified}``, its
key ``{k}`` and another column ``{c}``, all ``{columns}``; where there is a foreign key, the table
``{u}`` at its other end with ``{tk}`` and ``{uk}``, the columns on both sides; ``{shadow}`` is the
bare name of another table. Slots that begin with ``upper`` and ``bare`` are names as they are, in
upper case or not, and only where they need no quotes.
"""

from __future__ import annotations

from collections.abc import Iterator

from nl2sql.catalog import Catalog, ForeignKey, Table
from nl2sql.sql.names import quote_name
from tests.oracle.templates import fill_template, load_templates

PROBES = {
    "postgres": load_templates("probes_common", "probes_postgres"),
    "sqlite": load_templates("probes_common"),
}
TREE_PROBES = load_templates("probes_tree")
"""For a foreign key of a table onto itself."""


def build_probes(catalog: Catalog, table: Table) -> Iterator[tuple[str, str]]:
    """(name, query) for each template that the table's columns and keys can fill.

    With ``{u}`` in a template, one query for each foreign key of the table to another one.
    """
    plain = _fill_table(catalog, table)
    keys = [key for key in catalog.foreign_keys if key.table == table.qualified]
    for name, template in PROBES[catalog.dialect].items():
        if "{u}" not in template and "{tk}" not in template:
            if query := fill_template(template, plain):
                yield name, query
            continue
        for key in keys:
            target = catalog.table(key.target)
            if target is not None and target is not table:
                query = fill_template(template, plain | _fill_key(catalog, key, target))
                if query:
                    yield f"{name}/{key.columns[0]}", query
    for key in keys:
        if key.target == table.qualified:
            for name, template in TREE_PROBES.items():
                yield name, fill_template(template, plain | _fill_key(catalog, key, table))


def _fill_table(catalog: Catalog, table: Table) -> dict[str, str]:
    def quote(name: str) -> str:
        return quote_name(name, catalog.dialect)

    keys = table.primary_key or (table.columns[0].name,)
    others = [column.name for column in table.columns if column.name not in keys]
    key, other = keys[0], (others or [keys[-1]])[-1]
    shadow = next((other.name for other in catalog.tables if other.name != table.name), "x")
    name = quote(table.name)
    is_plain = name == table.name.lower() and quote(key) == key.lower()
    return {
        "t": catalog.short_names[table.qualified],
        "qualified": f"{quote(table.schema)}.{name}",
        "schema": table.schema,
        "name": name,
        "shadow": quote(shadow),
        "k": quote(key),
        "c": quote(other),
        "columns": ", ".join(quote(column.name) for column in table.columns),
        "key_columns": ", ".join(map(quote, table.primary_key)),
        "key_columns_a": ", ".join(f"a.{quote(column)}" for column in table.primary_key),
        "bare_name": table.name if is_plain else "",
        "bare_k": key if is_plain else "",
        "upper_t": f"{table.schema}.{table.name}".upper() if is_plain else "",
        "upper_k": key.upper() if is_plain else "",
    }


def _fill_key(catalog: Catalog, key: ForeignKey, target: Table) -> dict[str, str]:
    return {
        "u": catalog.short_names[target.qualified],
        "tk": quote_name(key.columns[0], catalog.dialect),
        "uk": quote_name(key.target_columns[0], catalog.dialect),
    }
