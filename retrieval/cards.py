"""The card of a table: the text under which search finds it.

A card reads as prose, because sentence embedders were trained on prose: the name in words, the
comment, then the columns with their comments. Its hash tells whether it has to be embedded anew.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from nl2sql.catalog import Catalog, Table
from nl2sql.words import split_words


@dataclass(frozen=True, slots=True)
class Card:
    """``text`` is what keyword search reads, ``summary`` (its beginning) what is embedded."""

    table: str
    summary: str
    text: str

    @property
    def sha256(self) -> str:
        """Hash over what is embedded."""
        return hashlib.sha256(self.summary.encode()).hexdigest()


def build_cards(catalog: Catalog) -> tuple[Card, ...]:
    """One card a table, in the catalog's order."""
    return tuple(_build_card(table) for table in catalog.tables)


def _build_card(table: Table) -> Card:
    name = " ".join(split_words(table.name))
    module = " ".join(split_words(table.schema))
    columns = ", ".join(" ".join(split_words(column.name)) for column in table.columns)
    head = f"{name} ({module}). {table.comment}".strip()
    summary = f"{head} Columns: {columns}."
    comments = " ".join(column.comment for column in table.columns if column.comment)
    return Card(table.qualified, summary, f"{summary} {comments}".strip())
