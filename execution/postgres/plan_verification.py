"""Holds PostgreSQL's own reading of a query, its plan, against what the guard allowed.

A table may bring more along than its name: a view its tables and functions, a partitioned table its
partitions, a parent its children, row-level security and generated columns their functions. So what
a plan has too much is first looked for in the plans of the query's tables by themselves, which the
database's owner defined; and a condition that is missing, in the partial index that stands for it.
What is left is refused, logged, and counted: an alarm, since the two readings before this one
should have refused it.

What that leaves open: a relation that one of the query's tables brings along is not told from the
same relation read directly; the readings before this one tell.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection, Mapping
from typing import Any

from psycopg import AsyncCursor, sql

from execution.postgres.plan_names import (
    PlanNames,
    find_unexplained,
    mentions,
    read_names,
    walk_plan,
)
from execution.postgres.pool import Connection
from nl2sql.types import Diagnostic, GuardedQuery

EXPLAIN = "EXPLAIN (VERBOSE, FORMAT JSON) "

# The SQLSTATE of a query that the database reads otherwise than the guard; of a class that
# PostgreSQL leaves to others.
READINGS_DISAGREE = "QS001"

_LOG = logging.getLogger("quorumsql.guard")
# How long it is remembered what a table brings along.
_KEEP_S = 60.0

# Only what the role may read: else the plan would be refused.
_COLUMNS = """
SELECT a.attname FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname || '.' || c.relname = $1 AND a.attnum > 0 AND NOT a.attisdropped
   AND has_column_privilege(c.oid, a.attnum, 'SELECT')
 ORDER BY a.attnum
"""


# An index whose own condition makes one of the query's needless.
_PREDICATES = """
SELECT pg_get_expr(i.indpred, i.indrelid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname || '.' || c.relname = $1 AND x.relname = ANY ($2) AND i.indpred IS NOT NULL
"""


class ThirdReader:
    """Checks plans of one database. ``alarms`` counts the queries that were refused."""

    def __init__(self, functions: Collection[str]) -> None:
        """``functions`` may be called by any query."""
        self._functions = functions
        self._brought: dict[tuple[str, str], tuple[float, PlanNames]] = {}
        self.alarms = 0

    def find_doubts(self, plan: Mapping[str, Any], query: GuardedQuery) -> PlanNames:
        """What the query's own text does not explain; nothing for almost all that people ask."""
        return find_unexplained(plan, query, self._functions)

    async def settle(
        self,
        connection: Connection,
        plan: Mapping[str, Any],
        doubts: PlanNames,
        query: GuardedQuery,
    ) -> Diagnostic | None:
        """Why the query must not run, or None where its tables explain the doubts.

        ``connection`` is in a transaction of the query's. Raises psycopg.Error.
        """
        left = doubts
        for table in query.tables:
            if not left:
                return None
            left -= await self._find_brought(connection, table, query)
            if table in left.relations and await _is_in_an_index(connection, plan, table, query):
                left -= PlanNames(frozenset({table}))
        if not left:
            return None
        self.alarms += 1
        names = ", ".join(sorted(left.relations | left.functions))
        _LOG.error("alarm: PostgreSQL reads %s in a query that passed the guard: %s", names, query)
        # A name could tell of what is withheld.
        told = "" if query.restricted else f": {names}"
        return Diagnostic(
            READINGS_DISAGREE, f"The query was not run: the database finds more in it{told}."
        )

    async def _find_brought(
        self, connection: Connection, table: str, query: GuardedQuery
    ) -> PlanNames:
        """What the table's own plan reads and calls, for the role that the query runs as."""
        key = (table, query.session.role if query.session else "")
        known = self._brought.get(key)
        if known is None or time.monotonic() - known[0] > _KEEP_S:
            names = PlanNames()
            cursor = await connection.execute(_COLUMNS, [table])
            columns = [sql.Identifier(name) for (name,) in await cursor.fetchall()]
            if columns:
                schema, _, name = table.partition(".")
                text = sql.SQL("SELECT {} FROM {}").format(
                    sql.SQL(", ").join(columns), sql.Identifier(schema, name)
                )
                explain = (sql.SQL(EXPLAIN) + text).as_string(connection)
                names = read_names(await read_plan(await connection.execute(explain.encode())))
                # A table does not explain that it is read past its filter.
                names -= PlanNames(frozenset({table}))
            known = self._brought[key] = (time.monotonic(), names)
        return known[1]


async def _is_in_an_index(
    connection: Connection, plan: Mapping[str, Any], table: str, query: GuardedQuery
) -> bool:
    """Whether the table's filter is the condition of an index that the plan uses."""
    columns = dict(query.filters).get(table, ())
    used = [step["Index Name"] for step in walk_plan(plan) if "Index Name" in step]
    if not columns or not used:
        return False
    predicates = await (await connection.execute(_PREDICATES, [table, used])).fetchall()
    return any(mentions(text, "", columns) for (text,) in predicates)


async def read_plan(planned: AsyncCursor[Any]) -> Mapping[str, Any]:
    """The root of the plan that ``EXPLAIN`` gave."""
    ((told,),) = await planned.fetchall()
    # One that quotes a text full of brackets comes unread, since it looks too deep.
    (root,) = json.loads(told) if isinstance(told, str) else told
    plan: Mapping[str, Any] = root["Plan"]
    return plan
