"""The third check: the relations and functions that the database itself found in a query.

Every query is explained before it runs, and EXPLAIN VERBOSE shows every expression as PostgreSQL
has resolved it: a call that looks like a column shows as a call. Every relation of the plan must be
one that the guard allowed, under the name that the guard gave it, with a condition on the columns
of its filter; every function must be allowed, too.

Known gaps, which no plan shows: expressions in VALUES of several rows, of LIMIT and OFFSET and of a
sample's size; what was computed while planning (immutable functions of constants); what was removed
as unnecessary (joins, parts of conditions, relations that cannot return a row). The two checks
before this one see all of that.

Knows EXPLAIN's JSON (of PostgreSQL 14 to 18) and nothing of connections.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nl2sql.types import GuardedQuery

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
