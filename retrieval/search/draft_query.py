"""Reads the names in a draft query; search treats them as if the question contained them.

The draft is a guess of the model; names that do not exist are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog
from nl2sql.sql.parsing import parse_one


@dataclass(frozen=True, slots=True)
class DraftNames:
    """Qualified names of existing tables, and all names of tables and columns as text."""

    tables: tuple[str, ...] = ()
    words: str = ""


def read_draft(draft: str, catalog: Catalog, shared: Iterable[str] = ()) -> DraftNames:
    """The names in ``draft`` that ``catalog`` contains; none if it cannot be parsed.

    ``shared`` are qualified names, in which tables outside the search path are looked up.

    >>> from nl2sql.catalog import Table
    >>> shop = Catalog("shop", (Table("sales", "orders", ()),), search_path=("sales",))
    >>> read_draft("SELECT total FROM orders o", shop)
    DraftNames(tables=('sales.orders',), words='orders total')
    """
    if not draft.strip():
        return DraftNames()
    try:
        tree = parse_one(draft, catalog.dialect)
    except (SqlglotError, RecursionError):
        return DraftNames()
    found: dict[str, None] = {}
    words: dict[str, None] = {}
    for node in tree.find_all(exp.Table):
        words[node.name] = None
        table = catalog.resolve(node.name, node.db)
        if table is not None:
            found[table.qualified] = None
        elif not node.db:
            # Outside the search path only tables that search has found are considered.
            named = (name for name in shared if _is_named(catalog, name, node.name))
            found.update(dict.fromkeys(list(named)[:1]))
    for column in tree.find_all(exp.Column):
        words[column.name] = None
    return DraftNames(tuple(found), " ".join(word for word in words if word))


def _is_named(catalog: Catalog, qualified: str, name: str) -> bool:
    table = catalog.table(qualified)
    return table is not None and table.name.lower() == name.lower()
