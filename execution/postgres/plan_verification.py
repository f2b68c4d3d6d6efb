"""The third check: the relations and functions that PostgreSQL itself found in a query.

Every query is explained before it runs, and EXPLAIN VERBOSE shows every expression as PostgreSQL
has resolved it: a call that looks like a column shows as a call. Every relation and every function
of the plan must be one that the guard allowed. That each table stands inside its filter is checked
on PostgreSQL's own parse tree (``second_check.py``).

A table can add more than its name to a plan: a view its tables and functions, a partitioned table
its partitions, a parent its children, row-level security and generated columns their functions. So
whatever is unexpected in a plan is first searched in the plans of the query's tables alone, which
the database's owner defined. The rest is refused and logged as an alarm, since the two
checks before this one should have refused it.

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
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cachetools import TTLCache
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


def read_names(plan: Mapping[str, Any]) -> frozenset[str]:
    """What the plan reads and calls: qualified relations, and functions with ``()`` behind.

    ``plan`` is the ``Plan`` of EXPLAIN's JSON.

    >>> scan = {"Node Type": "Seq Scan", "Schema": "hr", "Relation Name": "staff", "Alias": "s"}
    >>> sorted(read_names({**scan, "Output": ["upper(s.name)"]}))
    ['hr.staff', 'upper()']
    """
    names = set()
    for step in _walk_plan(plan):
        if "Relation Name" in step:
            names.add(f"{step.get('Schema', '')}.{step['Relation Name']}")
        for key, value in step.items():
            if key != "Plans" and key not in _NAMES:
                names |= {f"{call}()" for text in _flatten(value) for call in _find_calls(text)}
    return frozenset(names)


def find_unexplained(
    plan: Mapping[str, Any], query: GuardedQuery, functions: Collection[str]
) -> frozenset[str]:
    """The names in the plan that the guard did not allow. Any query may call ``functions``.

    >>> scan = {"Node Type": "Seq Scan", "Schema": "hr", "Relation Name": "secret", "Alias": "s"}
    >>> plan = {**scan, "Output": ["ts_stat(s.memo)", "upper(s.memo)"]}
    >>> query = GuardedQuery("shop", "SELECT …", ("hr.staff",))
    >>> sorted(find_unexplained(plan, query, {"upper"}))
    ['hr.secret', 'ts_stat()']
    """
    allowed = {*functions, *query.functions}
    # A function on the search path is shown without its schema.
    allowed |= {name.rpartition(".")[2] for name in allowed}
    return read_names(plan) - {f"{name}()" for name in allowed} - set(query.tables)


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


def _flatten(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _flatten(item)
    elif isinstance(value, list):
        for item in value:
            yield from _flatten(item)


def _walk_plan(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
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
# For how many tables, and how long, the names that each adds to a plan are kept.
_MOST_KEPT, _KEEP_S = 1024, 60.0
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


class PlanChecker:
    """Checks the plans of one database."""

    def __init__(self, functions: Collection[str]) -> None:
        """``functions`` may be called by any query."""
        self._functions = functions
        self._brought: TTLCache[tuple[str, str], frozenset[str]] = TTLCache(_MOST_KEPT, _KEEP_S)

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
    ) -> tuple[Mapping[str, Any], frozenset[str]]:
        """The plan that EXPLAIN returned, and its names that the query does not explain."""
        assert planned.pgresult is not None
        text = planned.pgresult.get_value(0, 0) or b""
        if len(text) > _LONGEST_ON_LOOP:
            return await run_in_parser_thread(self._read, text, query)
        return self._read(text, query)

    def _read(self, text: bytes, query: GuardedQuery) -> tuple[Mapping[str, Any], frozenset[str]]:
        plan = _parse_plan(text)
        return plan, find_unexplained(plan, query, self._functions)

    async def check(
        self, connection: Connection, planned: AsyncCursor[Any], query: GuardedQuery
    ) -> Mapping[str, Any] | Diagnostic:
        """The plan that EXPLAIN returned, or why the query must not run.

        ``connection`` is in the query's transaction. Raises psycopg.Error.
        """
        plan, left = await self.read(planned, query)
        for table in query.tables:
            if not left:
                break
            left -= await self._find_brought(connection, table, query)
        if not left:
            return plan
        names = ", ".join(sorted(left))
        _LOG.error("alarm: PostgreSQL reads %s in a query that passed the guard: %s", names, query)
        # A name could reveal what is hidden.
        told = "" if query.restricted else f": {names}"
        return Diagnostic(
            READINGS_DISAGREE, f"The query was not run: the database finds more in it{told}."
        )

    async def _find_brought(
        self, connection: Connection, table: str, query: GuardedQuery
    ) -> frozenset[str]:
        """What the plan of the table alone reads and calls, under the role of the query."""
        key = (table, query.session.role if query.session else "")
        if (known := self._brought.get(key)) is not None:
            return known
        names = frozenset[str]()
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
        self._brought[key] = names
        return names


def _parse_plan(text: bytes) -> Mapping[str, Any]:
    """The root of the plan in EXPLAIN's JSON."""
    (root,) = json.loads(text)
    plan: Mapping[str, Any] = root["Plan"]
    return plan
