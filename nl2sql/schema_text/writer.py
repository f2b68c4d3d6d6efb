"""Writes a schema that fits into the context window together with the rest of the prompt.

Tokens are counted by the model's own tokenizer. Columns are dropped first, the least relevant
before the others; and tables, from the lowest rank, only if all these columns are not enough.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from nl2sql.protocols import Engine
from nl2sql.schema_text.ddl import render_view
from nl2sql.schema_text.view import SchemaView
from nl2sql.settings import ModelSettings
from nl2sql.types import Plan, SchemaContext


def rank_columns(view: SchemaView, plan: Plan) -> list[str]:
    """The columns (``schema.table.column``) that may be left out, least relevant first.

    Never left out are keys, the first column of each table, and columns that were linked, found by
    search, hold a value that the question names, or are read by a definition. The others are
    ordered by their position in the table times the table's rank: the last columns of the last
    tables go first.
    """
    kept = {(link.table, link.column) for link in plan.links}
    kept |= {(match.table, match.column) for match in view.context.values}
    kept |= {
        (table, column)
        for definition in view.context.definitions
        for table, _, column in (name.rpartition(".") for name in definition.columns)
    }
    for key in view.keys:
        kept |= {(key.table, column) for column in key.columns}
        kept |= {(key.target, column) for column in key.target_columns}
    ranked: list[tuple[int, int, tuple[str, str]]] = []
    for rank, hit in enumerate(view.hits, start=1):
        name, own = hit.table.qualified, {*hit.table.primary_key, *hit.columns}
        ranked += [
            (place * rank, rank, (name, column.name))
            for place, column in enumerate(view.columns_of(hit.table), start=1)
            if place > 1 and column.name not in own and (name, column.name) not in kept
        ]
    return [".".join(place) for *_, place in sorted(ranked, reverse=True)]


def rank_tables(view: SchemaView) -> list[str]:
    """The tables that may be left out, the lowest rank first; never the best, or of definitions."""
    defined = {table for definition in view.context.definitions for table in definition.tables}
    names = (hit.table.qualified for hit in view.hits[:0:-1])
    return [name for name in names if name not in defined]


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

    def __init__(self, engine: Engine, settings: ModelSettings) -> None:
        self._engine = engine
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
        view = SchemaView(context, dict(plan.columns), comments=context.is_whole)
        text = render_view(view)
        room = self._settings.max_model_len - answer_tokens - CHAT_MARKS

        async def measure(left_out: Iterable[str]) -> int:
            shown = replace(view, left_out=frozenset(left_out))
            return sum(await self._engine.count_tokens((*beside, render_view(shown))))

        # A text has no more tokens than bytes: most prompts fit without counting tokens.
        if sum(len(part.encode()) for part in (text, *beside)) <= room or await measure(()) <= room:
            return WrittenSchema(text)
        columns, tables = rank_columns(view, plan), rank_tables(view)

        async def fit_tables(count: int) -> bool:
            return await measure((*columns, *tables[:count])) <= room

        gone = tables[: await _find_fewest(len(tables), fit_tables)]
        rest = [name for name in columns if name.rpartition(".")[0] not in gone]

        async def fit_columns(count: int) -> bool:
            return await measure((*rest[:count], *gone)) <= room

        left_out = (*rest[: await _find_fewest(len(rest), fit_columns)], *gone)
        shown = replace(view, left_out=frozenset(left_out))
        return WrittenSchema(render_view(shown), left_out)


async def _find_fewest(most: int, fits: Callable[[int], Awaitable[bool]]) -> int:
    """The smallest number up to ``most`` that ``fits``, by bisection; ``most`` if none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if await fits(middle):
            high = middle
        else:
            low = middle + 1
    return low
