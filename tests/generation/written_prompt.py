"""The prompt that a question gets under some settings, without sampling from it."""

from __future__ import annotations

from generation.prompts.prompt_builder import PromptBuilder
from generation.sampling.allocation import VARIANTS
from nl2sql.types import Plan, Prompt, Question, SchemaContext
from serve_app.settings import Settings
from tests.fakes import FakeEngine


async def write_prompt(
    settings: Settings, question: Question, context: SchemaContext, plan: Plan
) -> tuple[Prompt, tuple[str, ...]]:
    """The prompt of the first variant, and what of the schema did not fit into it."""
    builder = PromptBuilder(FakeEngine(), settings)
    return await builder.build(question, context, plan, VARIANTS[0])
