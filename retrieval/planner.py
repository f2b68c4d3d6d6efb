"""Planning: schema linking, column pruning and join planning."""

from __future__ import annotations

from nl2sql.protocols import Engine
from nl2sql.settings import FlagSettings, RetrievalSettings
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Contents, JoinPlan, Plan, Question, SchemaContext, SchemaLinks
from retrieval.joins.planner import plan_joins
from retrieval.linking.column_pruner import prune_columns
from retrieval.linking.linker import LinkingResult, SchemaLinker

# Columns of smaller databases are not pruned.
_PRUNING_MIN_TABLES = 50


class SchemaPlanner:
    """Links the question, then plans joins and prunes columns; flags switch these off.

    Without the flag ``schema_linker``, links by rules still serve the other two, but are not part
    of the plan. Some techniques of linking need ``engine``, whose prompts may hold ``sends``.
    """

    def __init__(
        self,
        settings: RetrievalSettings,
        flags: FlagSettings,
        engine: Engine | None = None,
        *,
        sends: Contents = "schema",
    ) -> None:
        """Raises SettingsError if linking needs a model and ``engine`` is None."""
        self._settings = settings
        self._flags = flags
        technique = settings.linking if flags.schema_linker else "deterministic"
        self._linker = SchemaLinker(
            settings.model_copy(update={"linking": technique}), engine, sends
        )

    async def plan(self, question: Question, context: SchemaContext) -> Plan:
        """The plan over the tables in ``context``. Raises EngineUnavailable."""
        flags = self._flags
        is_large = context.catalog_tables >= _PRUNING_MIN_TABLES
        prunes = flags.column_pruning and (is_large or any(hit.short for hit in context.tables))
        linked = (
            await self._linker.link(question, context)
            if flags.schema_linker or flags.join_planner or prunes
            else LinkingResult(SchemaLinks())
        )
        links = linked.links.links
        return Plan(
            links=linked.links if flags.schema_linker else SchemaLinks(),
            # Not in the event loop, as it compares many paths.
            joins=await run_in_parser_thread(
                plan_joins,
                question.search_text,
                context,
                links,
            )
            if flags.join_planner
            else JoinPlan(),
            columns=prune_columns(context, links, all_tables=is_large) if prunes else (),
            prompt_tokens=linked.prompt_tokens,
            completion_tokens=linked.completion_tokens,
        )
