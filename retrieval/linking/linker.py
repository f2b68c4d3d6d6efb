"""The schema linker: by rules, or by the model with one of three techniques."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.errors import PromptTooLong, SettingsError
from nl2sql.protocols import Engine
from nl2sql.settings import RetrievalSettings
from nl2sql.types import Contents, Question, SchemaContext, SchemaLink, SchemaLinks
from retrieval.linking.model_linker import ModelLinker, ModelLinks
from retrieval.linking.rules import link_by_rules

_RULES = "deterministic"


@dataclass(frozen=True, slots=True)
class Linked:
    """The links, and the tokens used."""

    links: SchemaLinks
    prompt_tokens: int = 0
    completion_tokens: int = 0


class SchemaLinker:
    """Links as ``settings.linking`` says; by rules, with a note, if the model names nothing.

    ``sends`` is what prompts may hold.
    """

    def __init__(
        self,
        settings: RetrievalSettings,
        engine: Engine | None = None,
        sends: Contents = "schema",
    ) -> None:
        """Raises SettingsError if the technique needs a model and ``engine`` is None."""
        if settings.linking != _RULES and engine is None:
            raise SettingsError(
                f"retrieval.linking is {settings.linking}, which needs a language model, "
                "and none is loaded.",
                hint=f"Set it to {_RULES}.",
            )
        self._technique = settings.linking
        self._model = ModelLinker(engine, sends) if engine is not None else None

    async def link(self, question: Question, context: SchemaContext) -> Linked:
        """Links the question to the retrieved tables. Raises EngineUnavailable."""
        by_rule = link_by_rules(question.search_text, context)
        if self._model is None or self._technique == _RULES or not context.tables:
            return Linked(SchemaLinks(by_rule))
        try:
            found = await self._ask(self._model, question, context)
        except PromptTooLong as error:
            return Linked(SchemaLinks(by_rule, note=error.message))
        if not found.names:
            links = SchemaLinks(by_rule, note=found.note or "The model named nothing")
        else:
            links = SchemaLinks(_merge(found, by_rule), self._technique)
        return Linked(links, found.prompt_tokens, found.completion_tokens)

    async def _ask(
        self, model: ModelLinker, question: Question, context: SchemaContext
    ) -> ModelLinks:
        if self._technique == "full":
            return await model.link_full(question, context)
        if self._technique == "tcsl":
            return await model.link_tables_then_columns(question, context)
        return await model.link_by_score(question, context)


def _merge(found: ModelLinks, by_rule: tuple[SchemaLink, ...]) -> tuple[SchemaLink, ...]:
    """The model's links, with the phrases that rules found for them.

    Then those by values and definitions.
    """
    phrases = {(link.table, link.column): link.phrase for link in by_rule}
    named = tuple(
        SchemaLink(phrases.get((table, column), ""), table, column, round(score, 3), "model")
        for table, column, score in found.names
    )
    known = {(link.table, link.column) for link in named}
    sure = (link for link in by_rule if link.method in ("value", "definition"))
    return (*named, *(link for link in sure if (link.table, link.column) not in known))
