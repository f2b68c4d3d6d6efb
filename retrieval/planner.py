"""Stage 3: schema links and joins, as one stage."""

from __future__ import annotations

from nl2sql.settings import FlagSettings
from nl2sql.types import JoinPlan, Plan, Question, SchemaContext, SchemaLinks
from retrieval.join_planner import plan_joins
from retrieval.schema_linker import link_schema


class SchemaPlanner:
    """Links, then joins between what was linked; both can be switched off."""

    def __init__(self, flags: FlagSettings) -> None:
        self._flags = flags

    async def plan(self, question: Question, context: SchemaContext) -> Plan:
        """The plan over the tables in ``context``."""
        linked = self._flags.schema_linker or self._flags.join_planner
        links = link_schema(question.search_text, context) if linked else SchemaLinks()
        joins = plan_joins(context, links) if self._flags.join_planner else JoinPlan()
        return Plan(links if self._flags.schema_linker else SchemaLinks(), joins)
