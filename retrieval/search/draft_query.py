"""The names in a first draft of the query, which count as if the question had asked for them.

A draft is a guess of the model: what it names wrongly is not found and does no harm.
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
    """Qualified names of the tables that exist, and all names of tables and columns as text."""

    tables: tuple[str, ...] = ()
    words: str = ""


def read_draft(draft: str, catalog: Catalog, shared: Iterable[str] = ()) -> DraftNames:
    """What ``draft`` names of the visible ``catalog``; nothing where it cannot be parsed.

    ``shared`` are qualified names that come first where several tables bear the name.

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
            # Outside the search path only the tables that search found anyway are looked through.
            named = (name for name in shared if _bears(catalog, name, node.name))
            found.update(dict.fromkeys(list(named)[:1]))
    for column in tree.find_all(exp.Column):
        words[column.name] = None
    return DraftNames(tuple(found), " ".join(word for word in words if word))


def _bears(catalog: Catalog, qualified: str, name: str) -> bool:
    table = catalog.table(qualified)
    return table is not None and table.name.lower() == name.lower()
