"""The cards of tables and columns: the texts that search compares with the question.

A card reads as prose, because sentence embedders were trained on prose. A table's card holds the
name in words, the comment and the columns. A column's card does not mention its table, so that the
same column of a thousand tables is one card, embedded once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.words import split_words

# Characters. An embedder reads 256 tokens, about 1,200 characters; for keyword search, the
# beginning of a very long comment is enough.
_LONGEST_EMBEDDED = 2000
_LONGEST_COMMENT = 4000
# A date or a serial number in a table's name.
_NUMBER = re.compile(r" \d{4,}\b")


@dataclass(frozen=True, slots=True)
class Card:
    """Keyword search reads ``text``; its beginning, ``summary``, is embedded without numbers.

    ``columns`` are the texts of the cards of the table's columns, in its order; ``gloss`` is the
    description of the table itself.
    """

    table: str
    summary: str
    text: str
    columns: tuple[str, ...]
    gloss: str = ""


@dataclass(frozen=True, slots=True)
class ColumnCard:
    """A text, and all columns that it describes: pairs of a qualified table and a column."""

    text: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cards:
    """A card for each table, in the catalog's order, and for each distinct column text, sorted."""

    tables: tuple[Card, ...]
    columns: tuple[ColumnCard, ...]


def build_cards(catalog: Catalog, glosses: Mapping[str, str] = MappingProxyType({})) -> Cards:
    """The cards of all tables and columns.

    ``glosses`` maps ``schema.table`` or ``schema.table.column`` to a further description.
    """
    return collect_cards(
        catalog, tuple(build_table_card(table, glosses) for table in catalog.tables)
    )


def collect_cards(catalog: Catalog, tables: tuple[Card, ...]) -> Cards:
    """All cards; ``tables`` are those of the catalog's tables, in its order."""
    texts: dict[str, list[tuple[str, str]]] = {}
    for table, card in zip(catalog.tables, tables, strict=True):
        for column, text in zip(table.columns, card.columns, strict=True):
            texts.setdefault(text, []).append((table.qualified, column.name))
    columns = (ColumnCard(text, tuple(texts[text])) for text in sorted(texts))
    return Cards(tables, tuple(columns))


def build_table_card(table: Table, glosses: Mapping[str, str] = MappingProxyType({})) -> Card:
    """The card of one table and its columns."""
    name = " ".join(split_words(table.name)) or table.name
    module = " ".join(split_words(table.schema))
    columns = ", ".join(" ".join(split_words(column.name)) for column in table.columns)
    comment = table.comment[:_LONGEST_COMMENT]
    gloss = glosses.get(table.qualified, "")[:_LONGEST_COMMENT]
    parts = (f"{name} ({module}).", comment, gloss, f"Columns: {columns}.")
    # Of a thousand dated copies (sessions_20170730) one is embedded; keyword search tells them
    # apart.
    embedded = (_NUMBER.sub("", parts[0]), comment, _NUMBER.sub("", gloss), parts[-1])
    summary = " ".join(part for part in embedded if part)[:_LONGEST_EMBEDDED]
    prose, described = list(parts), []
    for column in table.columns:
        own = glosses.get(f"{table.qualified}.{column.name}", "")
        prose += (column.comment[:_LONGEST_COMMENT], own[:_LONGEST_COMMENT])
        described.append(describe_column(column, own))
    text = " ".join(filter(None, prose))
    return Card(table.qualified, summary, text, tuple(described), gloss)


def describe_column(column: Column, gloss: str = "") -> str:
    """The text of a column's card.

    >>> describe_column(Column("cust_no", "text", comment="Who pays"), "customer number")
    'cust no. Who pays. customer number'
    """
    name = " ".join(split_words(column.name)) or column.name
    comment = column.comment[:_LONGEST_COMMENT].rstrip(". ")
    return ". ".join(part for part in (name, comment, gloss) if part)[:_LONGEST_EMBEDDED]
