"""The third check: the relations and functions that PostgreSQL itself found in a query.

Every query is explained before it runs, and EXPLAIN VERBOSE shows every expression as PostgreSQL
has resolved it: a call that looks like a column shows as a call. Every relation of the plan must be
one that the guard allowed, under the name that the guard gave it, with a condition on the columns
of its filter; every function must be allowed, too.

A table can add more than its name to a plan: a view its tables and functions, a partitioned table
its partitions, a parent its children, row-level security and generated columns their functions. So
whatever is unexpected in a plan is first searched in the plans of the query's tables alone, which
the database's owner defined; a missing condition is searched in the partial index that implies it.
The rest is refused, logged and counted as an alarm, since the two checks before this one should
have refused it.

Known gaps, which no plan shows: expressions in VALUES of several rows, of LIMIT and OFFSET and of a
sample's size; what was computed while planning (immutable functions of constants); what was removed
as unnecessary (joins, parts of conditions, relations that cannot return a row); a relation that one
of the query's tables adds to its plan is not distinguished from the same relation read directly.
The two checks before this one see all of that. Knows EXPLAIN's JSON of PostgreSQL 14 to 18.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncCursor, sql

from execution.postgres.pool import Connection
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Diagnostic, GuardedQuery

# The keys of a plan's step whose values are names, which may look like expressions. The values of
# other keys, such as ``Join Type``, do not.
_NAMES = frozenset(
    {
        "Alias",
        "CTE Name",
        "Custom Plan Provider",
        "Function Name",
        "Index Name",
        "Relation Name",
        "Sampling Method",
        "Schema",
        "Subplan Name",
        "Table Function Name",
        "Tuplestore Name",
    }
)
# SQL keywords that a parenthesis may follow. PostgreSQL quotes names with capitals.
_KEYWORDS = frozenset(
    "ALL AND ANY ARRAY AS BETWEEN BY CASE COALESCE CURRENT_TIME CURRENT_TIMESTAMP DISTINCT ELSE "
    "EXISTS FILTER FOLLOWING FOR FROM GREATEST GROUP GROUPING GROUPS IN IS LEAST LIKE LOCALTIME "
    "LOCALTIMESTAMP NOT NULLIF ON OR ORDER OVER OVERLAPS PARTITION PLACING PRECEDING RANGE ROW "
    "ROWS THEN USING VARIADIC WHEN WHERE WITHIN".split()
)
_NAME = r'(?:"(?:[^"]|"")+"|[A-Za-z_\x80-\U0010ffff][\w$]*)'
# A constant; a cast, whose parentheses hold the type's length; a name before a parenthesis.
_TOKEN = re.compile(
    rf"""
      '(?:[^']|'')*'
    | ::\s*{_NAME}(?:\.{_NAME})?(?:\ varying|\ precision|\ day\ to\ second)?(?:\([^()]*\))?
    | (?P<call>{_NAME}(?:\s*\.\s*{_NAME})*)\s*\(
    | {_NAME}
    """,
    re.VERBOSE,
)
_PART = re.compile(_NAME)
# The aliases of tables inside the guard's wrappers, which EXPLAIN numbers if there are several.
_WRAPPED_ALIAS = re.compile(r"_\d+(?:_\d+)*")


@dataclass(frozen=True, slots=True)
class PlanNames:
    """What a plan reads and calls: qualified relations, and functions as the plan spells them."""

    relations: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.relations or self.functions)

    def __sub__(self, other: PlanNames) -> PlanNames:
        return PlanNames(self.relations - other.relations, self.functions - other.functions)

    def __or__(self, other: PlanNames) -> PlanNames:
        return PlanNames(self.relations | other.relations, self.functions | other.functions)


def read_names(plan: Mapping[str, Any]) -> PlanNames:
    """Everything that the plan reads and calls. ``plan`` is the ``Plan`` of EXPLAIN's JSON."""
    steps = list(walk_plan(plan))
    return PlanNames(
        frozenset(_name_relation(step) for step in steps if "Relation Name" in step),
        frozenset(
            call for step in steps for text in _list_texts(step) for call in _find_calls(text)
        ),
    )


def find_unexplained(
    plan: Mapping[str, Any], query: GuardedQuery, functions: Collection[str]
) -> PlanNames:
    """The names in the plan that the guard did not allow. Any query may call ``functions``.

    >>> scan = {"Node Type": "Seq Scan", "Schema": "hr", "Relation Name": "secret", "Alias": "s"}
    >>> plan = {**scan, "Output": ["ts_stat(s.memo)", "upper(s.memo)"]}
    >>> query = GuardedQuery("shop", "SELECT …", ("hr.staff",))
    >>> found = find_unexplained(plan, query, {"upper"})
    >>> found.relations, found.functions
    (frozenset({'hr.secret'}), frozenset({'ts_stat'}))
    """
    allowed = {*functions, *query.functions}
    # A function on the search path is shown without its schema.
    allowed |= {name.rpartition(".")[2] for name in allowed}
    found = read_names(plan) - PlanNames(frozenset(query.tables), frozenset(allowed))
    if not query.wrapped:
        return found
    filters = dict(query.filters)
    conditions = [text for step in walk_plan(plan) for text in _list_texts(step, outputs=False)]
    outside = {
        _name_relation(step)
        for step in walk_plan(plan)
        if "Relation Name" in step and not _is_filtered(step, filters, conditions)
    }
    return found | PlanNames(frozenset(outside))


def _is_filtered(
    step: Mapping[str, Any], filters: Mapping[str, Collection[str]], conditions: list[str]
) -> bool:
    alias = step.get("Alias", "")
    if not _WRAPPED_ALIAS.fullmatch(alias):
        return False
    columns = filters.get(_name_relation(step))
    if not columns:
        return True
    return any(mentions(text, f"{alias}.", columns) for text in conditions)


def mentions(text: str, prefix: str, columns: Collection[str]) -> bool:
    """Whether an expression names one of the columns, qualified with ``prefix``."""
    names = "|".join(map(_spell_in_pattern, columns))
    return re.search(rf"(?<![\w$\"]){re.escape(prefix)}(?:{names})(?![\w$])", text) is not None


def _spell_in_pattern(name: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return rf"{re.escape(name)}|{re.escape(quoted)}"


def _find_calls(text: str) -> Iterator[str]:
    """The functions that an expression calls, as it spells them.

    >>> list(_find_calls("(upper((a.f(x))::numeric(10,2)) = ANY ('{f(x)}'::text[]))"))
    ['upper', 'a.f']
    """
    for match in _TOKEN.finditer(text):
        call = match["call"]
        if call is None or call in _KEYWORDS:
            continue
        parts = [
            part[1:-1].replace('""', '"') if part.startswith('"') else part
            for part in _PART.findall(call)
        ]
        if len(parts) == 2 and parts[0] == "pg_catalog":
            parts = parts[1:]
        # Functions with a syntax of their own, such as SUBSTRING(x FROM 1).
        yield ".".join(parts).lower() if call.isupper() else ".".join(parts)


def _list_texts(step: Mapping[str, Any], *, outputs: bool = True) -> Iterator[str]:
    """The expressions of one step, its outputs only with ``outputs``."""
    for key, value in step.items():
        if key == "Plans" or key in _NAMES or (key == "Output" and not outputs):
            continue
        yield from _flatten(value)


def _flatten(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _flatten(item)
    elif isinstance(value, list):
        for item in value:
            yield from _flatten(item)


def _name_relation(step: Mapping[str, Any]) -> str:
    return f"{step.get('Schema', '')}.{step['Relation Name']}"


def walk_plan(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """All steps of the plan, the root first."""
    pending = [plan]
    for step in pending:
        yield step
        pending.extend(step.get("Plans", ()))


EXPLAIN = "EXPLAIN (VERBOSE, FORMAT JSON) "

# The SQLSTATE of a query that the database reads otherwise than the guard, in a class that
# PostgreSQL does not use.
READINGS_DISAGREE = "QS001"

# The SQLSTATE of a query that names what a user has defined, where an extension's was meant.
OWN_DEFINITION = "QS002"
_NOT_AN_EXTENSIONS = (
    "This database has one that is no extension's, so what it does is not known. "
    "The database's allowlist can add it."
)
_OWN = """
SELECT DISTINCT name::text FROM (
       SELECT oprname, oid, 'pg_operator'::regclass, oprnamespace FROM pg_operator
       UNION ALL SELECT proname, oid, 'pg_proc'::regclass, pronamespace FROM pg_proc
       UNION ALL SELECT typname, oid, 'pg_type'::regclass, typnamespace FROM pg_type
       ) AS x (name, object, class, namespace)
 WHERE name = ANY ($1) AND namespace <> 'pg_catalog'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_depend AS d
                    WHERE d.classid = x.class AND d.objid = x.object AND d.deptype = 'e')
 ORDER BY 1
"""

_LOG = logging.getLogger("quorumsql.guard")
# How long the names that a table adds to a plan are cached.
_KEEP_S = 60.0
# Bytes. A plan quotes the texts of its query; reading a longer one takes milliseconds.
_LONGEST_ON_LOOP = 50_000

# Only columns that the role may read: otherwise EXPLAIN would be refused.
_COLUMNS = """
SELECT a.attname FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname || '.' || c.relname = $1 AND a.attnum > 0 AND NOT a.attisdropped
   AND has_column_privilege(c.oid, a.attnum, 'SELECT')
 ORDER BY a.attnum
"""


# The conditions of partial indexes, which can make conditions of the query unnecessary.
_PREDICATES = """
SELECT pg_get_expr(i.indpred, i.indrelid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname || '.' || c.relname = $1 AND x.relname = ANY ($2) AND i.indpred IS NOT NULL
"""


class PlanChecker:
    """Checks the plans of one database. ``alarms`` counts the refused queries."""

    def __init__(self, functions: Collection[str]) -> None:
        """``functions`` may be called by any query."""
        self._functions = functions
        self._brought: dict[tuple[str, str], tuple[float, PlanNames]] = {}
        self.alarms = 0

    async def check_definitions(
        self, connection: Connection, query: GuardedQuery
    ) -> Diagnostic | None:
        """Why the query must not even be planned, or None.

        Names that an extension must have defined may be a user's: planning would call an immutable
        function of constants. ``connection`` is in the query's transaction. Raises psycopg.Error.
        """
        if not query.extended:
            return None
        cursor = await connection.execute(_OWN, [sorted(query.extended)])
        own = ", ".join(name for (name,) in await cursor.fetchall())
        return Diagnostic(OWN_DEFINITION, f"{own}: {_NOT_AN_EXTENSIONS}") if own else None

    async def read(
        self, planned: AsyncCursor[Any], query: GuardedQuery
    ) -> tuple[Mapping[str, Any], PlanNames]:
        """The plan that EXPLAIN returned, and its names that the query does not explain."""
        assert planned.pgresult is not None
        text = planned.pgresult.get_value(0, 0) or b""
        if len(text) > _LONGEST_ON_LOOP:
            return await run_in_parser_thread(self._read, text, query)
        return self._read(text, query)

    def _read(self, text: bytes, query: GuardedQuery) -> tuple[Mapping[str, Any], PlanNames]:
        plan = _parse_plan(text)
        return plan, find_unexplained(plan, query, self._functions)

    async def check_unexplained(
        self,
        connection: Connection,
        plan: Mapping[str, Any],
        unexplained: PlanNames,
        query: GuardedQuery,
    ) -> Diagnostic | None:
        """Why the query must not run, or None if its tables explain these names.

        ``connection`` is in the query's transaction. Raises psycopg.Error.
        """
        left = unexplained
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
        # A name could reveal what is hidden.
        told = "" if query.restricted else f": {names}"
        return Diagnostic(
            READINGS_DISAGREE, f"The query was not run: the database finds more in it{told}."
        )

    async def _find_brought(
        self, connection: Connection, table: str, query: GuardedQuery
    ) -> PlanNames:
        """What the plan of the table alone reads and calls, under the role of the query."""
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
                planned = await connection.execute(explain.encode())
                assert planned.pgresult is not None
                names = read_names(_parse_plan(planned.pgresult.get_value(0, 0) or b""))
                # A table never explains that its filter is missing.
                names -= PlanNames(frozenset({table}))
            known = self._brought[key] = (time.monotonic(), names)
        return known[1]


async def _is_in_an_index(
    connection: Connection, plan: Mapping[str, Any], table: str, query: GuardedQuery
) -> bool:
    """Whether the table's filter is the condition of a partial index that the plan uses."""
    columns = dict(query.filters).get(table, ())
    used = [step["Index Name"] for step in walk_plan(plan) if "Index Name" in step]
    if not columns or not used:
        return False
    predicates = await (await connection.execute(_PREDICATES, [table, used])).fetchall()
    return any(mentions(text, "", columns) for (text,) in predicates)


def _parse_plan(text: bytes) -> Mapping[str, Any]:
    """The root of the plan in EXPLAIN's JSON."""
    (root,) = json.loads(text)
    plan: Mapping[str, Any] = root["Plan"]
    return plan
