"""Planning: schema linking, column pruning and join planning."""

from __future__ import annotations

from nl2sql.settings import FlagSettings
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import JoinPlan, Plan, Question, SchemaContext
from nl2sql.words import drop_sorting
from retrieval.joins.planner import plan_joins
from retrieval.linking.column_pruner import prune_columns
from retrieval.linking.rules import link_by_rules

# Columns of smaller databases are not pruned.
_PRUNING_MIN_TABLES = 50


class SchemaPlanner:
    """Links the question, then plans joins and prunes columns; flags switch these off.

    Without the flag ``schema_linker``, links still serve the other two, but are not part of the
    plan.
    """

    def __init__(self, flags: FlagSettings) -> None:
        self._flags = flags

    async def plan(self, question: Question, context: SchemaContext) -> Plan:
        """The plan over the tables in ``context``."""
        # Not in the event loop, as it compares many names and paths.
        text = drop_sorting(question.search_text)
        return await run_in_parser_thread(self._plan, text, context)

    def _plan(self, question: str, context: SchemaContext) -> Plan:
        flags = self._flags
        is_large = context.catalog_tables >= _PRUNING_MIN_TABLES
        prunes = flags.column_pruning and (is_large or any(hit.short for hit in context.tables))
        links = (
            link_by_rules(question, context)
            if flags.schema_linker or flags.join_planner or prunes
            else ()
        )
        return Plan(
            links=links if flags.schema_linker else (),
            joins=plan_joins(question, context, links) if flags.join_planner else JoinPlan(),
            columns=prune_columns(context, links, all_tables=is_large) if prunes else (),
        )
