"""Definitions as other tools have them, and what they mean in SQL over the tables of a catalog.

The form is that of Cube's YAML (https://cube.dev/docs/reference/data-model): a cube is a table with
dimensions, measures and joins, to which SQL refers as ``{measure}``, ``{CUBE}.column`` and
``{join.dimension}``. Files of the other tools are read as cubes. Only what means exactly the same
is taken: joins of definitions are inner joins, so no row without a partner may count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from sqlglot import exp

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.names import quote_name
from retrieval.semantics.semantics_file import SECTIONS
from retrieval.semantics.sql_parts import (
    DefinitionColumns,
    UnusableDefinition,
    join_lines,
    rewrite_columns,
)

_AGGREGATES = {
    "sum": "sum({})",
    "min": "min({})",
    "max": "max({})",
    "avg": "avg({})",
    "count": "count({})",
    "count_distinct": "count(DISTINCT {})",
    "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})",
}
_PLAIN = ("", "number", "string", "time", "boolean")
_HARMLESS = {"format", "currency", "meta", "drill_members", "granularities", "order"}
_PUBLIC: Any = Field(True, validation_alias=AliasChoices("public", "shown"))
_TO_ONE = ("many_to_one", "one_to_one", "belongs_to", "has_one")


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_null(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {key: inner for key, inner in value.items() if inner is not None}


class Member(_Form):
    """A dimension, measure or segment; ``problem`` says why it cannot be one of ours.

    ``inputs`` are measures besides those of the cube to which the SQL refers. A key that is not
    here is a problem, too.
    """

    model_config = ConfigDict(extra="allow")

    name: str
    sql: str = "*"
    type: str = ""
    filters: tuple[Mapping[str, str], ...] = ()
    title: str = ""
    description: str = ""
    public: bool = _PUBLIC
    primary_key: bool = False
    inputs: Mapping[str, Member] = {}
    problem: str = ""

    def find_problem(self) -> str:
        """Why it cannot be one of our definitions; empty if it can."""
        if self.problem:
            return self.problem
        if self.type not in _AGGREGATES and self.type not in _PLAIN:
            return f"it is of type {self.type}, which definitions do not have"
        extra = sorted(key for key, value in (self.model_extra or {}).items() if value)
        unknown = [key for key in extra if key not in _HARMLESS]
        return f"it has {unknown[0]}, which definitions do not have" if unknown else ""


class Join(_Form):
    """A join to a cube, which is called by ``name`` in SQL, and ``cube`` if it is called so."""

    name: str
    sql: str
    relationship: str = ""
    cube: str = ""


class Cube(_Form):
    """A table with its definitions; ``key`` is a column without NULL."""

    name: str
    sql_table: str = ""
    sql: str = ""
    extends: str = ""
    key: str = ""
    public: bool = _PUBLIC
    dimensions: tuple[Member, ...] = ()
    measures: tuple[Member, ...] = ()
    segments: tuple[Member, ...] = ()
    joins: tuple[Join, ...] = ()

    def list_members(self) -> Iterator[tuple[str, Member]]:
        """All members with their sections of our file."""
        for section, key in zip(SECTIONS, ("measures", "dimensions", "segments"), strict=True):
            for member in getattr(self, key):
                yield section, member


def read_cubes(content: Mapping[str, Any], _dialect: str) -> list[Cube]:
    """The cubes of one of Cube's YAML files. Raises ValueError."""
    return [Cube.model_validate(each) for each in content.get("cubes") or ()]


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


_REFERENCE = re.compile(r"\{\s*(?:(\w+)\s*\.\s*)?(\w+)\s*\}(\.?)")
_ROWS = re.compile(r"count\(\s*(\*|1)\s*\)|sum\(\s*1\s*\)", re.IGNORECASE)
SEVERAL = "its measures read several tables; a join would repeat rows or leave them out"
# Under these, a row without a partner can count.
_KEEP_MISSING = (
    *(exp.Or, exp.Is, exp.NullSafeEQ, exp.Case, exp.If, exp.Not),
    *(exp.Coalesce, exp.Concat, exp.ConcatWs, exp.Greatest, exp.Least),
)


class MeaningReader:
    """Finds the meaning of members. Every method raises UnusableDefinition."""

    def __init__(self, cubes: Iterable[Cube], catalog: Catalog) -> None:
        self._cubes = {cube.name: cube for cube in cubes}
        self._catalog = catalog
        self._columns = DefinitionColumns(catalog)

    def _find_table(self, cube: Cube) -> Table:
        if cube.extends:
            raise UnusableDefinition("it extends another cube")
        return self._columns.read_table(cube.sql or f"SELECT * FROM {cube.sql_table}")

    def read(self, cube: Cube, member: Member) -> Meaning:
        """The SQL of a member, and of a measure the rows that it is computed over."""
        if problem := member.find_problem():
            raise UnusableDefinition(problem)
        meaning = self._expand(cube, member.sql, member.inputs)
        if pattern := _AGGREGATES.get(member.type):
            if meaning.is_measure:
                raise UnusableDefinition("it aggregates what is an aggregate already")
            meaning = replace(meaning, text=pattern.format(meaning.text), is_aggregate=True)
        if _ROWS.fullmatch(meaning.text):
            meaning = replace(meaning, text=f"count({self._find_key(cube)})", is_aggregate=True)
        limits = [self._expand(cube, each["sql"]) for each in member.filters]
        return replace(
            meaning,
            condition=" AND ".join(
                limit.text if len(limits) == 1 else f"({limit.text})" for limit in limits
            ),
            joins=meaning.joins.union(*(limit.joins for limit in limits)),
        )

    def write_joins(self, meaning: Meaning) -> list[str]:
        """The joins as definitions have them, ``a.x = b.y``."""
        found = []
        for owner, name in sorted(meaning.joins):
            join = self._find_join(self._cubes[owner], name)
            if join.relationship not in _TO_ONE:
                raise UnusableDefinition(f"{name} can have several rows for one; a join repeats it")
            found.append(self._expand(self._cubes[owner], join.sql).text)
        return found

    def _find_join(self, cube: Cube, name: str) -> Join:
        for join in cube.joins:
            if join.name == name and (join.cube or name) in self._cubes:
                return join
        raise UnusableDefinition(f"it refers to {name!r}, to which {cube.name} has no join")

    def _follow(self, cube: Cube, name: str) -> Cube:
        return self._cubes[self._find_join(cube, name).cube or name]

    def _name_table(self, cube: Cube) -> str:
        return self._catalog.short_names[self._find_table(cube).qualified]

    def _find_key(self, cube: Cube) -> str:
        """A column that is never NULL: a definition that counts rows must name a column."""
        table = self._find_table(cube)
        filled = [column.name for column in table.columns if not column.nullable]
        if sure := [name for name in table.primary_key if name in filled] or filled:
            return self._expand(cube, quote_name(sure[0], self._catalog.dialect)).text
        keys = [member.sql for member in cube.dimensions if member.primary_key]
        if keys := [cube.key] if cube.key else keys:
            return self._expand(cube, keys[0]).text
        raise UnusableDefinition(f"no column of {table.qualified} is known to have no NULL")

    def _expand(self, cube: Cube, text: str, inputs: Mapping[str, Member] | None = None) -> Meaning:
        """The text with all references replaced, and its table before each column."""
        own = self._name_table(cube)
        text = join_lines(text)
        parts = [
            self._resolve(cube, owner, name, dot, inputs or {})
            for owner, name, dot in _REFERENCE.findall(text)
        ]
        written = iter(parts)
        text = _REFERENCE.sub(lambda found: next(written).text + found[3], text)
        if "{" in text:
            raise UnusableDefinition(f"it has a template: {text}")
        joins = frozenset[tuple[str, str]]().union(*(part.joins for part in parts))
        is_measure = any(part.is_measure for part in parts)
        if is_measure and joins:
            raise UnusableDefinition(SEVERAL)

        others = {self._name_table(self._follow(self._cubes[at], by)) for at, by in joins}

        def write(column: exp.Column, name: str) -> str:
            name = name if column.table else f"{own}.{name}"
            if (table := name.rpartition(".")[0]) not in {own, *others}:
                raise UnusableDefinition(f"it reads {table} without a join to it")
            calls = list(column.root().find_all(exp.AggFunc))
            is_kept = table != own and column.find_ancestor(*_KEEP_MISSING) is not None
            if joins and (is_kept or len(calls) > 1):
                raise UnusableDefinition("it counts rows without a partner, which joins leave out")
            return name

        text = rewrite_columns(text, self._catalog.dialect, write)
        return Meaning(text, "", joins, is_measure)

    def _resolve(
        self, cube: Cube, owner: str, name: str, dot: str, inputs: Mapping[str, Member]
    ) -> Meaning:
        """What ``{owner.name}`` refers to, or ``{name}`` before a dot and a column."""
        place, name = (owner, name) if owner or not dot else (name, "")
        joins, target = frozenset[tuple[str, str]](), cube
        if place not in ("", "CUBE", cube.name):
            joins, target = frozenset({(cube.name, place)}), self._follow(cube, place)
        if not name:
            return Meaning(self._name_table(target), "", joins)
        values = {each.name: each for each in target.dimensions}
        measures = {each.name: each for each in target.measures if each.name not in values}
        members = {**values, **measures, **inputs}
        if name not in members:
            raise UnusableDefinition(f"it refers to {name!r}, which is not there")
        found, is_measure = self.read(target, members[name]), name in {**measures, **inputs}
        if is_measure and (joins or found.joins):
            raise UnusableDefinition(SEVERAL)
        text = found.text
        if found.condition:
            if not found.is_aggregate:
                raise UnusableDefinition(f"it reads {name}, which has a filter of its own")
            text = f"{text} FILTER (WHERE {found.condition})"
        if not (found.is_aggregate or re.fullmatch(r'[\w."]+', text)):
            text = f"({text})"
        return Meaning(text, "", joins | found.joins, is_measure)
