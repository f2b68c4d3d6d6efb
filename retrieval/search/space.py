"""The search space of one visible catalog: all data that a search needs, built once and cached.

Tables are numbers here: positions in the visible catalog. Hidden tables and columns do not
influence words, vectors or modules: a table with hidden columns is embedded again from its visible
ones, in this process. If there are more than 256 such tables, only their words and visible columns
are searched.

A set of roles has the same visible catalog object for all questions, and a space is cached for that
object. Over a new index it is another object, for which another space is built.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Table
from nl2sql.errors import IndexUnavailable
from nl2sql.words import content_words
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.cards import Card, ColumnCard, build_table_card
from retrieval.index_store.indexed_database import (
    IndexedDatabase,
    IndexHead,
    Vectors,
    pack_positions,
)
from retrieval.index_store.store import IndexStore
from retrieval.per_catalog import PerCatalog
from retrieval.search.keys import Neighbours
from retrieval.search.keywords import KeywordIndex
from retrieval.search.modules import ModuleRouter, find_modules
from retrieval.search.table_names import TableNames

_MOST_EMBEDDED = 256
# A column of more tables (id, name, created_at) is not evidence for any of them.
_MOST_BEARERS = 200


@dataclass(slots=True)
class SearchSpace:
    """One visible catalog, ready to be searched.

    ``vectors`` has a row for each card of the index. ``rows`` maps a table to its row, or to -1 if
    it has its own vector (in ``own``) or none; ``tables_at`` maps a row to its table.
    ``shown_tables`` and ``shown_columns`` are the visible cards of the index, as bits; None means
    all.
    """

    head: IndexHead
    catalog: Catalog
    keywords: KeywordIndex
    names: TableNames
    router: ModuleRouter
    neighbours: Neighbours
    numbers: Mapping[str, int]
    vectors: Vectors
    rows: NDArray[np.int32]
    tables_at: NDArray[np.int32]
    own: Mapping[int, NDArray[np.float32]]
    shown_tables: bytes | None
    shown_columns: bytes | None
    column_cards: Sequence[ColumnCard]
    _columns: dict[int, dict[int, tuple[str, ...]]] = field(default_factory=dict)

    def cosines(self, tables: Sequence[int], vector: NDArray[np.float32]) -> dict[int, float]:
        """Table → cosine similarity to ``vector``, for tables that have a vector."""
        rows = self.rows[list(tables)] if tables else np.zeros(0, dtype=np.int32)
        known = self.vectors[rows].astype(np.float32) @ vector if len(rows) else rows
        found = {
            table: float(cosine)
            for table, row, cosine in zip(tables, rows, known, strict=True)
            if row >= 0
        }
        for table in tables:
            if table in self.own:
                found[table] = float(self.own[table] @ vector)
        return found

    def columns_at(self, card: int) -> Mapping[int, tuple[str, ...]]:
        """Table → its columns that the card describes; empty if too many tables have them."""
        if card not in self._columns:
            found: dict[int, tuple[str, ...]] = {}
            names = self.column_cards[card].columns
            if len(names) <= _MOST_BEARERS:
                for name, column in names:
                    table = self.numbers.get(name)
                    if table is not None and self.catalog.tables[table].column(column):
                        found[table] = (*found.get(table, ()), column)
            self._columns[card] = found
        return self._columns[card]


def build_space(
    visible: Catalog,
    index: IndexedDatabase,
    embedder: Embedder,
) -> SearchSpace:
    """The space of ``visible``, a part of ``index.catalog``; takes seconds for a large one."""
    full = index.catalog
    numbers = {table.qualified: number for number, table in enumerate(visible.tables)}
    cards = {card.table: at for at, card in enumerate(index.cards.tables)}
    rows = np.full(len(visible.tables), -1, dtype=np.int32)
    narrowed: dict[int, Card] = {}
    for number, table in enumerate(visible.tables):
        whole = full.table(table.qualified)
        if whole is not None and (whole is table or whole.columns == table.columns):
            rows[number] = cards[table.qualified]
        else:
            narrowed[number] = _describe_narrowed(table, index, cards.get(table.qualified))
    tables_at = np.full(len(cards), -1, dtype=np.int32)
    tables_at[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    texts = [
        narrowed[number].text if row < 0 else index.cards.tables[row].text
        for number, row in enumerate(rows)
    ]
    # A table's name counts twice, because it says more than other words of the card. Words are
    # interned, because the cards share a few thousand of them.
    documents = [
        [sys.intern(word) for word in content_words(f"{table.name} {text}")]
        for table, text in zip(visible.tables, texts, strict=True)
    ]
    embedded = narrowed if len(narrowed) <= _MOST_EMBEDDED else {}
    own = embedder.embed([card.summary for card in embedded.values()]) if embedded else ()
    is_whole = not narrowed and len(visible.tables) == len(cards)
    return SearchSpace(
        head=index.head,
        catalog=visible,
        keywords=KeywordIndex(documents),
        names=TableNames(visible.tables),
        router=ModuleRouter(find_modules(visible), documents),
        neighbours=_find_neighbours(visible, numbers),
        numbers=numbers,
        vectors=index.vectors,
        rows=rows,
        tables_at=tables_at,
        own=dict(zip(embedded, own, strict=True)),
        shown_tables=None if is_whole else pack_positions(rows[rows >= 0].tolist(), len(cards)),
        shown_columns=None if is_whole else _pack_columns(visible, index.cards.columns),
        column_cards=index.cards.columns,
    )


def _describe_narrowed(table: Table, index: IndexedDatabase, row: int | None) -> Card:
    """The card of a table with hidden columns, made from its visible columns' cards."""
    if row is None:
        return build_table_card(table)
    columns = index.catalog.tables[row].columns
    names = (f"{table.qualified}.{column.name}" for column in columns)
    whole = index.cards.tables[row]
    described = dict(zip(names, whole.columns, strict=True)) | {table.qualified: whole.gloss}
    return build_table_card(table, described)


def _pack_columns(visible: Catalog, cards: Sequence[ColumnCard]) -> bytes:
    """The column cards that describe at least one visible column."""
    names = {(table.qualified, column.name) for table in visible.tables for column in table.columns}
    seen = [at for at, card in enumerate(cards) if not names.isdisjoint(card.columns)]
    return pack_positions(seen, len(cards))


def _find_neighbours(catalog: Catalog, numbers: Mapping[str, int]) -> Neighbours:
    found: dict[int, set[int]] = {}
    for key in catalog.keys:
        near, far = numbers.get(key.table), numbers.get(key.target)
        if near is not None and far is not None and near != far:
            found.setdefault(near, set()).add(far)
            found.setdefault(far, set()).add(near)
    return found


_MOST_SPACES = 16


class SearchSpaces:
    """Gives the search space of a visible catalog; for use in one event loop."""

    def __init__(self, store: IndexStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        # For each database in memory its index, and the spaces over it.
        self._held: dict[str, tuple[IndexedDatabase, PerCatalog[SearchSpace]]] = {}

    async def find(self, visible: Catalog) -> SearchSpace:
        """The space of ``visible``, which is built over the present index at the first call.

        Raises IndexUnavailable if the database has no index, or one of another embedder.
        """
        name = visible.database
        held = self._held.get(name)
        if held is None or visible not in held[1]:
            index = await self._store.load(name)
            if index.head.embedder != self._embedder.name:
                raise IndexUnavailable(
                    f"The index of {name!r} was made with the embedder {index.head.embedder!r}, "
                    f"the service uses {self._embedder.name!r}.",
                    hint=f"Run `quorumsql index build {name}` again.",
                )
            held = self._held.get(name)
            if held is None or held[0] is not index:
                build = partial(build_space, index=index, embedder=self._embedder)
                held = self._held[name] = (index, PerCatalog(build, most=_MOST_SPACES))
        return await held[1].load(visible)
