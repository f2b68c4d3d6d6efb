"""Writes a schema that fits: into the model's window, beside all else that stands in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nl2sql.schema_text.fitting import choose_left_out, measure, rank_droppable
from nl2sql.schema_text.forms import FORMS, Form
from nl2sql.schema_text.token_counts import TokenCounts
from nl2sql.schema_text.view import SchemaView
from nl2sql.settings import Settings
from nl2sql.types import Plan, SchemaContext

# What a chat template puts around a system and a user message, and the answer's first line: 16
# tokens with Qwen's, about 45 with Llama 3's.
CHAT_MARKS = 48
# What it puts around one more message, at most.
MESSAGE_MARKS = 12


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    """The text, and what of the view is not in it, in the order in which it went."""

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
        database: str,
        beside: Sequence[str],
        answer_tokens: int,
        plan: Plan | None = None,
        form: Form | None = None,
        order: int = 0,
    ) -> WrittenSchema:
        """The schema that fits into the window with the texts ``beside`` it and the answer.

        Where it does not fit, the least relevant columns go first, then the tables of the lowest
        rank; keys and linked columns of the best table stay even if they do not fit either. Raises
        EngineUnavailable. ``order`` is that of the tables, see ``SchemaView``.
        """
        plan = plan or Plan()
        view = SchemaView(
            context,
            columns=dict(plan.columns),
            comments=self._settings.flags.comments and context.is_whole,
            database=database,
            order=order,
        )
        build = FORMS[form or self._settings.sampling.schema_form]
        whole = build(view)
        room = self._settings.model.max_model_len - answer_tokens - CHAT_MARKS
        text = whole.render()
        # A text has no more tokens than bytes: most prompts are known to fit without a count.
        if sum(len(each.encode()) for each in (text, *beside)) <= room:
            return WrittenSchema(text)
        pieces = whole.pieces()
        counts = await self._tokens.count((*beside, *pieces))
        left_out = choose_left_out(
            measure(whole, counts),
            room - sum(counts[each] for each in beside),
            rank_droppable(view, plan),
            [hit.table.qualified for hit in view.hits],
        )
        if not left_out:
            return WrittenSchema(text)
        shown = replace(view, left_out=frozenset(left_out))
        return WrittenSchema(build(shown).render(), left_out)
