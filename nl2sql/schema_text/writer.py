"""Writes a schema that fits into the context window together with the rest of the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nl2sql.schema_text.fitting import choose_left_out, measure, rank_droppable
from nl2sql.schema_text.forms import FORMS, Form
from nl2sql.schema_text.token_counts import TokenCounts
from nl2sql.schema_text.view import SchemaView
from nl2sql.settings import Settings
from nl2sql.types import Plan, SchemaContext

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
    """Writes the schema of a context in one of the forms."""

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
        form: Form = "ddl",
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
        build = FORMS[form]
        whole = build(view)
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
            context.required,
        )
        if not left_out:
            return WrittenSchema(text)
        shown = replace(view, left_out=frozenset(left_out))
        return WrittenSchema(build(shown).render(), left_out)


def list_droppable(view: SchemaView) -> list[str]:
    """The tables that may be left out, best first, after the best table, which is kept."""
    defined = {table for definition in view.context.definitions for table in definition.tables}
    names = [hit.table.qualified for hit in view.hits]
    return [*names[:1], *(name for name in names[1:] if name not in defined)]
