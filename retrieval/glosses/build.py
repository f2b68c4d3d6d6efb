"""Glosses for the index: other names of tables and columns.

They consist of expanded abbreviations and the user's synonyms. They hold no cell values, because
all principals share the index, and no general synonyms, because in a card those would count as much
as the schema's own words (search adds them to the question instead).
"""

from __future__ import annotations

from nl2sql.catalog import Catalog
from nl2sql.words import split_words
from retrieval.vocabulary.abbreviations import expand_words
from retrieval.vocabulary.synonyms import Synonyms


def build_glosses(catalog: Catalog, synonyms: Synonyms) -> dict[str, str]:
    """``schema.table`` or ``schema.table.column`` → its gloss, for all that have one.

    >>> from nl2sql.catalog import Column, Table
    >>> shop = Catalog("shop", (Table("s", "cust", (Column("cust_no", "text"),)),))
    >>> build_glosses(shop, Synonyms(tables={"s.cust": ("patron",)}))
    {'s.cust': 'customer, patron', 's.cust.cust_no': 'customer number'}
    """
    described: dict[str, str] = {}
    # Many tables have columns of the same name.
    words: dict[str, str] = {}
    for table in catalog.tables:
        named = [(table.qualified, table.name, synonyms.tables)]
        named += [
            (f"{table.qualified}.{column.name}", column.name, synonyms.columns)
            for column in table.columns
        ]
        for qualified, name, own in named:
            if name not in words:
                words[name] = write_out(name)
            parts = [words[name], *own.get(qualified, ())]
            if text := ", ".join(part for part in parts if part):
                described[qualified] = text
    return described


def write_out(name: str) -> str:
    """The name with its abbreviations expanded; empty if it has none."""
    short = split_words(name)
    long = expand_words(short)
    return " ".join(long) if long != short else ""
