"""Glosses for the index: what else people call a table or a column.

Only words: abbreviations written out and the user's synonyms. No cell value, because the index is
the same for every principal; no general synonym, because among the words of a card it would count
as much as the schema's own (search adds those to the question instead).
"""

from __future__ import annotations

from nl2sql.catalog import Catalog
from nl2sql.words import split_words
from retrieval.vocabulary.abbreviations import expand_words
from retrieval.vocabulary.synonyms import Synonyms


def build_glosses(catalog: Catalog, synonyms: Synonyms) -> dict[str, str]:
    """``schema.table`` or ``schema.table.column`` → its words, where there are more than its name.

    >>> from nl2sql.catalog import Column, Table
    >>> shop = Catalog("shop", (Table("s", "cust", (Column("cust_no", "text"),)),))
    >>> build_glosses(shop, Synonyms(tables={"s.cust": ("patron",)}))
    {'s.cust': 'customer, patron', 's.cust.cust_no': 'customer number'}
    """
    described: dict[str, str] = {}
    # The same names stand in many tables.
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
    """The name with its abbreviations written out; empty where it has none."""
    short = split_words(name)
    long = expand_words(short)
    return " ".join(long) if long != short else ""
