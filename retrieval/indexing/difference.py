"""Compares an index with what a new run would write: table by table, column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from retrieval.index_store.cards import Cards
from retrieval.index_store.generations import IndexedDatabase


@dataclass(frozen=True, slots=True)
class TableChange:
    """``change`` is ``added``, ``removed`` or ``changed``; an empty ``table`` means the index."""

    table: str
    change: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes, and the number of cards that would be embedded."""

    changes: tuple[TableChange, ...]
    to_embed: int

    def __bool__(self) -> bool:
        return bool(self.changes)


def compare_index(
    live: IndexedDatabase | None, catalog: Catalog, cards: Cards, embedder: str
) -> Difference:
    """The differences between the ``live`` index and what would be indexed now.

    Inferred keys are not compared, because inference reads rows.
    """
    new_texts = _list_texts(cards)
    if live is None:
        added = (TableChange(table.qualified, "added") for table in catalog.tables)
        return Difference(tuple(added), len(new_texts))
    changes = list(compare_catalogs(live.catalog, catalog))
    named = {change.table for change in changes}
    old_cards = {card.table: card.text for card in live.cards.tables}
    changes += (
        TableChange(card.table, "changed", ("described in other words",))
        for card in cards.tables
        if card.table not in named and old_cards.get(card.table) != card.text
    )
    if live.embedder != embedder:
        detail = f"embedder: {live.embedder} → {embedder}"
        changes.append(TableChange("", "changed", (detail,)))
        return Difference(tuple(changes), len(new_texts))
    known = _list_texts(live.cards)
    if not changes and new_texts != known:
        changes.append(TableChange("", "changed", ("columns are described in other words",)))
    return Difference(tuple(changes), len(new_texts - known))


def _list_texts(cards: Cards) -> set[str]:
    """The hashes of all texts that are embedded."""
    return {card.sha256 for card in cards.tables} | {card.sha256 for card in cards.columns}


def compare_catalogs(old: Catalog, new: Catalog) -> Iterator[TableChange]:
    """The changes from ``old`` to ``new``, sorted by table name.

    >>> one = Catalog("d", (Table("s", "t", (Column("a", "text"), Column("b", "text"))),))
    >>> two = Catalog("d", (Table("s", "t", (Column("a", "int"),)), Table("s", "u", ())))
    >>> for change in compare_catalogs(one, two):
    ...     print(change.table, change.change, *change.details, sep=" | ")
    s.t | changed | column a: text → int | column b removed
    s.u | added
    """
    if old.search_path != new.search_path:
        before, after = ", ".join(old.search_path), ", ".join(new.search_path)
        yield TableChange("", "changed", (f"search path: {before} → {after}",))
    old_keys, new_keys = _group_keys(old), _group_keys(new)
    names = {table.qualified for catalog in (old, new) for table in catalog.tables}
    for name in sorted(names):
        before_table, after_table = old.table(name), new.table(name)
        if before_table is None:
            yield TableChange(name, "added")
        elif after_table is None:
            yield TableChange(name, "removed")
        else:
            details = [*_compare_tables(before_table, after_table)]
            details += _compare_keys(old_keys.get(name, set()), new_keys.get(name, set()))
            if details:
                yield TableChange(name, "changed", tuple(details))


def _compare_tables(old: Table, new: Table) -> Iterator[str]:
    if old == new:
        return
    for aspect in ("kind", "comment", "definition"):
        if getattr(old, aspect) != getattr(new, aspect):
            yield f"other {aspect}"
    if old.primary_key != new.primary_key:
        yield f"primary key: ({', '.join(old.primary_key)}) → ({', '.join(new.primary_key)})"
    before = {column.name: column for column in old.columns}
    after = {column.name: column for column in new.columns}
    for name in (*before, *(name for name in after if name not in before)):
        if name not in after:
            yield f"column {name} removed"
        elif name not in before:
            yield f"column {name} added"
        elif before[name] != after[name]:
            yield f"column {name}: {_describe_change(before[name], after[name])}"
    if before == after and tuple(before) != tuple(after):
        yield "columns in another order"


def _describe_change(old: Column, new: Column) -> str:
    parts = []
    if old.type != new.type:
        parts.append(f"{old.type} → {new.type}")
    if old.nullable != new.nullable:
        parts.append("NULL allowed" if new.nullable else "NOT NULL")
    if old.comment != new.comment:
        parts.append("other comment")
    return ", ".join(parts)


def _group_keys(catalog: Catalog) -> dict[str, set[ForeignKey]]:
    grouped: dict[str, set[ForeignKey]] = {}
    for key in catalog.foreign_keys:
        grouped.setdefault(key.table, set()).add(key)
    return grouped


def _compare_keys(old: set[ForeignKey], new: set[ForeignKey]) -> list[str]:
    removed = sorted(f"foreign key {_render_key(key)} removed" for key in old - new)
    added = sorted(f"foreign key {_render_key(key)} added" for key in new - old)
    return removed + added


def _render_key(key: ForeignKey) -> str:
    return f"({', '.join(key.columns)}) → {key.target} ({', '.join(key.target_columns)})"
