"""Decides what to leave out of a schema that is too long, from token counts.

Columns are dropped first, the least relevant before the others; then tables, from the lowest rank.
The space that a dropped table frees goes back to the columns of better tables.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nl2sql.schema_text.pieces import SchemaText
from nl2sql.schema_text.view import SchemaView
from nl2sql.types import Plan

Place = tuple[str, str]
"""A qualified table name and a column of it."""


@dataclass(frozen=True, slots=True)
class SchemaSizes:
    """Tokens: of all ``columns``, of a table's ``frames`` without them, and of ``fixed`` text."""

    columns: Mapping[Place, int]
    frames: Mapping[str, int]
    fixed: int = 0

    @property
    def total(self) -> int:
        """Upper bound of the tokens of the whole schema."""
        return self.fixed + sum(self.frames.values()) + sum(self.columns.values())


def measure(text: SchemaText, tokens: Mapping[str, int]) -> SchemaSizes:
    """The sizes of ``text`` from the counts of its pieces."""
    return SchemaSizes(
        columns={
            (table.table, name): tokens[piece]
            for table in text.tables
            for name, piece in table.column_pieces().items()
        },
        frames={table.table: sum(tokens[piece] for piece in table.frame) for table in text.tables},
        fixed=tokens[text.closing],
    )


def rank_droppable(view: SchemaView, plan: Plan) -> list[Place]:
    """The columns that may be left out, least relevant first.

    Never left out are keys, the first column of each table, and columns that were linked, found by
    search, hold a value that the question names, or are read by a definition. The others are
    ordered by their position in the table times the table's rank: the last columns of the last
    tables go first.
    """
    kept: set[Place] = {(link.table, link.column) for link in plan.links.links}
    kept |= {(match.table, match.column) for match in view.context.values}
    kept |= {
        (table, column)
        for definition in view.context.definitions
        for table, _, column in (name.rpartition(".") for name in definition.columns)
    }
    for key in view.keys:
        kept |= {(key.table, column) for column in key.columns}
        kept |= {(key.target, column) for column in key.target_columns}
    ranked: list[tuple[int, int, Place]] = []
    for rank, hit in enumerate(view.hits, start=1):
        name, own = hit.table.qualified, {*hit.table.primary_key, *hit.columns}
        ranked += [
            (place * rank, rank, (name, column.name))
            for place, column in enumerate(view.columns_of(hit.table), start=1)
            if place > 1 and column.name not in own and (name, column.name) not in kept
        ]
    return [place for *_, place in sorted(ranked, reverse=True)]


def choose_left_out(
    sizes: SchemaSizes,
    room: int,
    droppable: Sequence[Place],
    tables: Sequence[str],
    required: Collection[str] = (),
) -> tuple[str, ...]:
    """The columns (``schema.table.column``), then tables to leave out, in the order of dropping.

    ``room`` is in tokens. ``tables`` come best first; the best one and the ``required`` ones are
    always kept, and so is a table that is not among them.

    >>> columns = {("s.a", "x"): 5, ("s.a", "y"): 5, ("s.b", "x"): 5}
    >>> sizes = SchemaSizes(columns, frames={"s.a": 2, "s.b": 2})
    >>> choose_left_out(sizes, 15, [("s.a", "y")], ["s.a", "s.b"])
    ('s.a.y',)
    >>> choose_left_out(sizes, 13, [("s.a", "y")], ["s.a", "s.b"])
    ('s.b',)
    """
    excess = sizes.total - room
    columns: dict[Place, int] = {}
    for place in droppable:
        if excess <= 0:
            break
        columns[place] = sizes.columns[place]
        excess -= columns[place]
    left: dict[str, int] = dict(sizes.frames)
    for place, size in sizes.columns.items():
        left[place[0]] += 0 if place in columns else size
    gone: list[str] = []
    for table in reversed(tables[1:]):
        if excess <= 0:
            break
        if table in required:
            continue
        excess -= left[table]
        gone.append(table)
    columns = {place: size for place, size in columns.items() if place[0] not in gone}
    for place, size in reversed(list(columns.items())) if gone else ():
        if excess + size <= 0:
            excess += size
            del columns[place]
    return (*(f"{table}.{column}" for table, column in columns), *gone)
