"""Definitions as other tools have them, and what they mean in SQL over the tables of a catalog.

The form is that of Cube's YAML (https://cube.dev/docs/reference/data-model): a cube is a table with
dimensions, measures and joins, to which SQL refers as ``{measure}``, ``{CUBE}.column`` and
``{join.dimension}``. Files of the other tools are read as cubes. Only what means exactly the same
is taken: joins of definitions are inner joins, so no row without a partner may count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from sqlglot import exp

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.names import enquote, quote_name
from retrieval.semantics.sql_parts import (
    DefinitionColumns,
    UnusableDefinition,
    join_lines,
    read_condition,
    rewrite_columns,
)

_AGGREGATES = {
    "sum": "sum({})",
    "min": "min({})",
    "max": "max({})",
    "avg": "avg({})",
    "average": "avg({})",
    "count": "count({})",
    "count_distinct": "count(DISTINCT {})",
    "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})",
    "sum_boolean": "sum(CASE WHEN {} THEN 1 ELSE 0 END)",
}
_PLAIN = ("", "number", "string", "time", "boolean", "categorical")
_HARMLESS = {
    *("format", "currency", "meta", "drill_members", "granularities", "order"),
    *("alias", "filter", "measure", "input_measures", "semantic_model", "config", "metadata"),
    *("create_metric", "agg_time_dimension", "type_params", "metric_aggregation_params"),
    *("is_partition", "isCalculated", "notNull", "isPrimaryKey", "properties"),
}
_ABSENT: tuple[Any, ...] = ("", [], {})
_PUBLIC: Any = Field(True, validation_alias=AliasChoices("public", "shown"))
_TO_ONE = ("many_to_one", "one_to_one", "belongs_to", "has_one")


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _leave_out_null(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {key: inner for key, inner in value.items() if inner is not None}

    def find_unknown(self) -> str:
        """Says which keys are not read; empty if there are none."""
        extra = (self.model_extra or {}).items()
        # Zero says something.
        given = [key for key, value in extra if value is not False and value not in _ABSENT]
        unknown = ", ".join(key for key in given if key not in _HARMLESS)
        return f"it has {unknown}, which definitions do not have" if unknown else ""


class Member(_Form):
    """A dimension, measure or segment; ``problem`` says why it cannot be one of ours.

    With ``by_name``, names in the SQL are members of the cube or of ``inputs`` without braces, too.
    A key that is not here is a problem.
    """

    name: str
    sql: str = Field("", validation_alias=AliasChoices("sql", "expr", "expression"))
    type: str = Field("", validation_alias=AliasChoices("type", "agg"))
    filters: tuple[Mapping[str, str], ...] = ()
    title: str = Field("", validation_alias=AliasChoices("title", "label"))
    description: str = ""
    public: bool = _PUBLIC
    primary_key: bool = False
    by_name: bool = False
    inputs: Mapping[str, Member] = {}
    problem: str = ""


class Join(_Form):
    """A join to a cube, which is called by ``name`` in SQL, and ``cube`` if it is called so."""

    name: str
    sql: str
    relationship: str = ""
    cube: str = ""


class Cube(_Form):
    """A table with its definitions by our sections; ``key`` is a column without NULL."""

    name: str
    sql_table: str = ""
    sql: str = ""
    key: str = ""
    public: bool = _PUBLIC
    dimensions: tuple[Member, ...] = ()
    measures: tuple[Member, ...] = ()
    filters: tuple[Member, ...] = Field((), validation_alias="segments")
    joins: tuple[Join, ...] = ()


@dataclass(frozen=True, slots=True)
class Meaning:
    """SQL over the rows that fulfil the condition; ``joins`` are a cube and its join each.

    ``is_measure``: it has aggregates; ``is_aggregate``: it is one call of an aggregate.
    """

    text: str
    condition: str = ""
    joins: frozenset[tuple[str, str]] = frozenset()
    is_measure: bool = False
    is_aggregate: bool = False


# Braces around the names make them names of members.
_REFERENCE = re.compile(r"\{\s*(?:(\w+)\s*\.\s*)?(\w+)\s*\}")
_ROWS = re.compile(r"count\(\s*(\*|1)\s*\)|sum\(\s*1\s*\)", re.IGNORECASE)
_COLUMN = r'(?:\w+|"[^"]*")'
_ALL_ROWS = re.compile(
    rf'select (?:\*|{_COLUMN}(?:, ?{_COLUMN})*) from ((?:[^\s"]|"[^"]*")+)', re.IGNORECASE
)
SEVERAL = "its measures read several tables; a join would repeat rows or leave them out"
# Under these, a row without a partner can count.
_KEEP_MISSING = (
    *(exp.Or, exp.Is, exp.NullSafeEQ, exp.Case, exp.If, exp.Not),
    *(exp.Coalesce, exp.Concat, exp.ConcatWs, exp.Greatest, exp.Least),
)


class MeaningReader:
    """Finds the meaning of members. Every method raises UnusableDefinition."""

    def __init__(self, cubes: Mapping[str, Cube], catalog: Catalog) -> None:
        self._cubes = cubes
        self._catalog = catalog
        self._columns = DefinitionColumns(catalog)

    def read(self, cube: Cube, member: Member) -> Meaning:
        """The SQL of a member, and of a measure the rows that it is computed over."""
        if problem := member.problem or member.find_unknown():
            raise UnusableDefinition(problem)
        if member.type not in (*_AGGREGATES, *_PLAIN):
            raise UnusableDefinition(f"it is of type {member.type}, which definitions do not have")
        own = quote_name(member.name, self._catalog.dialect)
        meaning = self._expand(cube, member.sql or ("*" if member.type == "count" else own), member)
        if pattern := _AGGREGATES.get(member.type):
            meaning = replace(meaning, text=pattern.format(meaning.text), is_aggregate=True)
        if _ROWS.fullmatch(meaning.text):
            meaning = replace(meaning, text=f"count({self._find_key(cube)})", is_aggregate=True)
        limits = [self._expand(cube, each["sql"]) for each in member.filters]
        texts = [f"({limit.text})" if len(limits) > 1 else limit.text for limit in limits]
        joins = meaning.joins.union(*(limit.joins for limit in limits))
        return replace(meaning, condition=" AND ".join(texts), joins=joins)

    def write_joins(self, meaning: Meaning, *, keep_rows: bool) -> list[str]:
        """The joins as definitions have them, ``a.x = b.y``; ``keep_rows``: none loses a row."""
        found = []
        for name_of_owner, name in sorted(meaning.joins):
            owner = self._cubes[name_of_owner]
            join, _ = self._find_join(owner, name)
            text = self._expand(owner, join.sql).text
            if keep_rows and not self._keeps_rows(owner, text):
                raise UnusableDefinition(f"{text} may leave out rows without a partner")
            found.append(text)
        return found

    def _keeps_rows(self, cube: Cube, join: str) -> bool:
        """Whether it is over a declared key of the cube without NULL: each row has a partner."""
        tree = read_condition(join, self._catalog.dialect, ())
        ends = {
            (found.table.qualified, found.column.name): found.column.nullable
            for found in self._columns.read(join, tree, ()).names
        }
        table = self._find_table(cube).qualified
        return any(
            key.table == table
            and ends.keys() == {(table, *key.columns), (key.target, *key.target_columns)}
            and not ends[table, key.columns[0]]
            for key in self._catalog.foreign_keys
        )

    def _find_join(self, cube: Cube, name: str) -> tuple[Join, Cube]:
        """A join of the cube by its name or that of the other cube, and the other cube."""
        join = next((each for each in cube.joins if name in (each.name, each.cube)), None)
        if join is None or (other := self._cubes.get(join.cube or name)) is None:
            raise UnusableDefinition(f"it refers to {name!r}, to which {cube.name} has no join")
        if join.relationship not in _TO_ONE:
            raise UnusableDefinition(f"{name} can have several rows for one; a join repeats it")
        return join, other

    def _find_table(self, cube: Cube) -> Table:
        query = _ALL_ROWS.fullmatch(join_lines(cube.sql))
        if not (name := query[1] if query else cube.sql_table):
            raise UnusableDefinition(
                f"its rows are not simply those of a table: {cube.sql or cube.name}"
            )
        return self._columns.find_table(name)

    def _find_key(self, cube: Cube) -> str:
        """A column that is never NULL: a definition that counts rows must name a column."""
        table = self._find_table(cube)
        filled = [column.name for column in table.columns if not column.nullable]
        sure = [name for name in table.primary_key if name in filled] or filled
        known = [quote_name(name, self._catalog.dialect) for name in sure]
        declared = [cube.key, *(each.sql for each in cube.dimensions if each.primary_key)]
        if key := next(filter(None, (*known, *declared)), ""):
            return self._expand(cube, key).text
        raise UnusableDefinition(f"no column of {table.qualified} is known to have no NULL")

    def _expand(self, cube: Cube, text: str, member: Member | None = None) -> Meaning:
        """The text with all references replaced, and its table before each column."""
        parts: list[Meaning] = []

        def write(column: exp.Column) -> str:
            part = self._resolve(cube, column, member)
            is_kept = column.find_ancestor(*_KEEP_MISSING) is not None
            if part.joins and (is_kept or len(list(column.root().find_all(exp.AggFunc))) > 1):
                raise UnusableDefinition("it counts rows without a partner, which joins leave out")
            parts.append(part)
            return part.text

        text = join_lines(text)
        if "{" in _REFERENCE.sub("", text):
            raise UnusableDefinition(f"it has a template: {text}")
        marked = _REFERENCE.sub(
            lambda found: ".".join(enquote(f"{{{name}}}") for name in found.groups() if name), text
        )
        text = rewrite_columns(marked, self._catalog.dialect, write)
        joins = frozenset[tuple[str, str]]().union(*(part.joins for part in parts))
        is_measure = any(part.is_measure for part in parts)
        if is_measure and joins:
            raise UnusableDefinition(SEVERAL)
        return Meaning(text, "", joins, is_measure)

    def _resolve(self, cube: Cube, column: exp.Column, member: Member | None) -> Meaning:
        """What ``{owner.name}``, ``{owner}.column`` or ``column`` refers to."""
        if column.db:
            raise UnusableDefinition(f"{column.sql()} is over several joins")
        owner, name = column.table.strip("{}"), column.name.strip("{}")
        joins, target = frozenset[tuple[str, str]](), cube
        if owner not in ("", "CUBE", cube.name):
            _, target = self._find_join(cube, owner)
            joins = frozenset({(cube.name, owner)})
        members = {each.name: each for each in (*target.measures, *target.dimensions)}
        by_name = member is not None and member.by_name
        members |= member.inputs if member else {}
        if name == column.name and not (by_name and name in members):
            written = column.this.sql(self._catalog.dialect)
            table = self._catalog.short_names[self._find_table(target).qualified]
            return Meaning(f"{table}.{written}", "", joins)
        if name not in members:
            raise UnusableDefinition(f"it refers to {name!r}, which is not there")
        meaning = self.read(target, members[name])
        text, is_call = meaning.text, meaning.is_aggregate
        if meaning.condition:
            if not is_call:
                raise UnusableDefinition(f"it reads {name}, which has a filter of its own")
            text = f"{text} FILTER (WHERE {meaning.condition})"
        if not (is_call or re.fullmatch(r'[\w."]+', text)):
            text = f"({text})"
        is_measure = members[name] not in target.dimensions
        return Meaning(text, "", joins | meaning.joins, is_measure)
