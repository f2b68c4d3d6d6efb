"""Writes a schema that fits into the context window together with the rest of the prompt.

Tokens are counted by the model's own tokenizer. Columns are dropped first, the least relevant
before the others; then tables, from the lowest rank. The space that a dropped table frees goes back
to the columns of better tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cachetools import LRUCache

from nl2sql.protocols import Engine
from nl2sql.schema_text.ddl import build_ddl
from nl2sql.schema_text.view import SchemaText, SchemaView
from nl2sql.settings import Settings
from nl2sql.types import Plan, SchemaContext

# About 100 bytes each with their count.
_MOST_REMEMBERED = 50_000


class TokenCounts:
    """Counts the tokens of texts, with one call to the engine for all that are not cached."""

    def __init__(self, engine: Engine, *, most_remembered: int = _MOST_REMEMBERED) -> None:
        self._engine = engine
        self._known: LRUCache[str, int] = LRUCache(most_remembered)

    async def count(self, texts: Iterable[str]) -> dict[str, int]:
        """Text → tokens. Raises EngineUnavailable."""
        wanted = dict.fromkeys(texts)
        counts = {text: self._known[text] for text in wanted if text in self._known}
        if unknown := tuple(text for text in wanted if text not in counts):
            found = await self._engine.count_tokens(unknown)
            counts.update(zip(unknown, found, strict=True))
            self._known.update({text: counts[text] for text in unknown})
        return counts


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
) -> tuple[str, ...]:
    """The columns (``schema.table.column``), then tables to leave out, in the order of dropping.

    ``room`` is in tokens. ``tables`` come best first; the best one is
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
        excess -= left[table]
        gone.append(table)
    columns = {place: size for place, size in columns.items() if place[0] not in gone}
    for place, size in reversed(list(columns.items())) if gone else ():
        if excess + size <= 0:
            excess += size
            del columns[place]
    return (*(f"{table}.{column}" for table, column in columns), *gone)


# Tokens that a chat template adds to a system and a user message and the start of the answer: 16
# with Qwen's, about 45 with Llama 3's.
CHAT_MARKS = 48
# The most tokens that it adds to one more message.
MESSAGE_MARKS = 12


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    """The text, and the tables and columns that were left out, in the order of dropping."""

    text: str
    left_out: tuple[str, ...] = ()


class SchemaWriter:
    """Writes the schema of a context."""

    def __init__(self, tokens: TokenCounts, settings: Settings) -> None:
        self._tokens = tokens
        self._settings = settings

    async def write(
        self,
        context: SchemaContext,
        *,
        beside: Sequence[str],
        answer_tokens: int,
        plan: Plan | None = None,
    ) -> WrittenSchema:
        """Writes a schema that fits into the window with the texts ``beside`` it and the answer.

        If it is too long, the least relevant columns are left out first, then the tables of the
        lowest rank; keys and linked columns of the best table are always kept, and so are the
        tables of definitions. Raises EngineUnavailable.
        """
        plan = plan or Plan()
        view = SchemaView(
            context,
            columns=dict(plan.columns),
            comments=context.is_whole,
        )
        whole = build_ddl(view)
        room = self._settings.model.max_model_len - answer_tokens - CHAT_MARKS
        text = whole.render()
        # A text has no more tokens than bytes: most prompts fit without counting tokens.
        if sum(len(part.encode()) for part in (text, *beside)) <= room:
            return WrittenSchema(text)
        pieces = whole.pieces()
        counts = await self._tokens.count((*beside, *pieces))
        left_out = choose_left_out(
            measure(whole, counts),
            room - sum(counts[part] for part in beside),
            rank_droppable(view, plan),
            list_droppable(view),
        )
        if not left_out:
            return WrittenSchema(text)
        shown = replace(view, left_out=frozenset(left_out))
        return WrittenSchema(build_ddl(shown).render(), left_out)


def list_droppable(view: SchemaView) -> list[str]:
    """The tables that may be left out, best first, after the best table, which is kept."""
    defined = {table for definition in view.context.definitions for table in definition.tables}
    names = [hit.table.qualified for hit in view.hits]
    return [*names[:1], *(name for name in names[1:] if name not in defined)]
