"""Searches with one variant for one question: what it finds and misses, and the times.

Runs routing, retrieval, linking, join planning and pruning; the stages are passed in.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from nl2sql.catalog import Catalog
from nl2sql.errors import QuorumError, Unavailable
from nl2sql.protocols import Planner, Retriever
from nl2sql.schema_text import render_schema
from nl2sql.types import Plan, Question, SchemaContext

# A token of SQL is about three characters with the tokenizers of code models.
_CHARS_A_TOKEN = 3


@dataclass(frozen=True, slots=True)
class SearchSystem:
    """The stages of one variant."""

    retriever: Retriever
    planner: Planner


@dataclass(frozen=True, slots=True)
class Target:
    """The gold tables and columns to find, and the catalog that contains them."""

    tables: tuple[str, ...]
    columns: tuple[str, ...]
    catalog: Catalog


@dataclass(frozen=True, slots=True)
class SearchFinding:
    """The result of one variant; ``tables`` are those shown, best first.

    ``missed_tables`` are gold tables that are not shown, ``missed_columns`` gold columns that
    pruning removed from shown tables; ``columns`` and ``tokens`` count what is shown. ``error`` is
    set if the search failed.
    """

    tables: tuple[str, ...] = ()
    missed_tables: tuple[str, ...] = ()
    missed_columns: tuple[str, ...] = ()
    columns: int = 0
    tokens: int = 0
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    error: str = ""


async def search(question: Question, system: SearchSystem, target: Target) -> SearchFinding:
    """The finding of ``system``, including errors of the question. Raises Unavailable."""
    try:
        start = time.perf_counter()
        _, context = await system.retriever.retrieve(question)
        retrieved = time.perf_counter()
        plan = await system.planner.plan(question, context)
        planned = time.perf_counter()
    except Unavailable:
        raise
    except QuorumError as error:
        return SearchFinding(missed_tables=target.tables, error=str(error))
    shown = [hit.table.qualified for hit in context.tables]
    left = dict(plan.columns)
    return SearchFinding(
        tables=tuple(shown),
        missed_tables=tuple(name for name in target.tables if name not in shown),
        missed_columns=find_pruned(target.columns, shown, plan),
        columns=sum(
            len(left.get(hit.table.qualified, hit.table.columns)) for hit in context.tables
        ),
        tokens=estimate_tokens(context, plan),
        stages_ms={
            "route and retrieve": (retrieved - start) * 1000,
            "link and plan": (planned - retrieved) * 1000,
        },
    )


def find_pruned(columns: tuple[str, ...], shown: list[str], plan: Plan) -> tuple[str, ...]:
    """Those of ``columns`` (``schema.table.column``) that pruning removed from shown tables.

    >>> plan = Plan(columns=(("s.t", ("a",)),))
    >>> find_pruned(("s.t.a", "s.t.b", "s.u.c"), ["s.t"], plan)
    ('s.t.b',)
    """
    left = {f"{table}.{name}" for table, names in plan.columns for name in names}
    pruned = [table for table, _ in plan.columns if table in shown]
    return tuple(
        column
        for column in columns
        if column not in left and any(column.startswith(f"{table}.") for table in pruned)
    )


def estimate_tokens(context: SchemaContext, plan: Plan) -> int:
    """The approximate number of tokens of the schema in DDL form, as prompts have it."""
    text = (
        render_schema(context, columns=plan.columns, comments=context.is_whole)
        if context.tables
        else ""
    )
    return len(text) // _CHARS_A_TOKEN
