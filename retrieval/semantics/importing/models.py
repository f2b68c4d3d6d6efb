"""Definitions as other tools have them, and what they mean in SQL over the tables of a catalog.

The form is that of Cube's YAML (https://cube.dev/docs/reference/data-model): a cube is a table with
dimensions and measures, to which SQL refers as ``{measure}`` and ``{CUBE}.column``. Files of the
other tools are read as cubes. Only what means exactly the same is taken, and nothing over a join:
definitions have inner joins, which leave out rows without a partner.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from sqlglot import exp

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.names import enquote, quote_name
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
    "average": "avg({})",
    "count": "count({})",
    "count_distinct": "count(DISTINCT {})",
    "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})",
    "sum_boolean": "sum(CASE WHEN {} THEN 1 ELSE 0 END)",
}
_PLAIN = ("", "number", "string", "time", "boolean", "categorical")
_HARMLESS = {
    *("format", "currency", "meta", "drill_members", "granularities", "order", "joins"),
    *("alias", "filter", "measure", "input_measures", "semantic_model", "config", "metadata"),
    *("create_metric", "agg_time_dimension", "type_params", "metric_aggregation_params"),
    *("is_partition", "isCalculated", "notNull", "isPrimaryKey", "properties"),
}
_ABSENT: tuple[Any, ...] = ("", [], {})
_PUBLIC: Any = Field(True, validation_alias=AliasChoices("public", "shown"))


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
    """A dimension, measure or segment.

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


class Cube(_Form):
    """A table with its definitions by our sections.

    ``entity`` is another name for it in SQL, ``key`` a column without NULL.
    """

    name: str
    entity: str = ""
    description: str = ""
    sql_table: str = ""
    sql: str = ""
    key: str = ""
    public: bool = _PUBLIC
    dimensions: tuple[Member, ...] = ()
    measures: tuple[Member, ...] = ()
    filters: tuple[Member, ...] = Field((), validation_alias="segments")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not imported, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Meaning:
    """SQL over the rows that fulfil the condition; ``is_aggregate``: one call of an aggregate."""

    text: str
    condition: str = ""
    is_aggregate: bool = False


# Braces around the names make them names of members.
_REFERENCE = re.compile(r"\{\s*(?:(\w+)\s*\.\s*)?(\w+)\s*\}")
_ROWS = re.compile(r"count\(\s*(\*|1)\s*\)|sum\(\s*1\s*\)", re.IGNORECASE)
_COLUMN = r'(?:\w+|"[^"]*")'
_ALL_ROWS = re.compile(
    rf'select (?:\*|{_COLUMN}(?:, ?{_COLUMN})*) from ((?:[^\s"]|"[^"]*")+)', re.IGNORECASE
)


class MeaningReader:
    """Finds the meaning of members. Every method raises UnusableDefinition."""

    def __init__(self, cubes: Mapping[str, Cube], catalog: Catalog) -> None:
        self._cubes = cubes
        self._catalog = catalog
        self._columns = DefinitionColumns(catalog)

    def read(self, cube: Cube, member: Member) -> Meaning:
        """The SQL of a member, and of a measure the rows that it is computed over."""
        if unknown := member.find_unknown():
            raise UnusableDefinition(unknown)
        if member.type not in (*_AGGREGATES, *_PLAIN):
            raise UnusableDefinition(f"it is of type {member.type}, which definitions do not have")
        own = quote_name(member.name, self._catalog.dialect)
        text = self._expand(cube, member.sql or ("*" if member.type == "count" else own), member)
        pattern = _AGGREGATES.get(member.type)
        if pattern:
            text = pattern.format(text)
        counts_rows = _ROWS.fullmatch(text) is not None
        if counts_rows:
            text = f"count({self._find_key(cube)})"
        limits = [self._expand(cube, each["sql"]) for each in member.filters]
        limits = [f"({limit})" for limit in limits] if len(limits) > 1 else limits
        return Meaning(text, " AND ".join(limits), bool(pattern) or counts_rows)

    def name_table(self, cube: Cube) -> str:
        """The name of its table, with the schema only where SQL needs it."""
        return self._catalog.short_names[self._find_table(cube).qualified]

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
            return self._expand(cube, key)
        raise UnusableDefinition(f"no column of {table.qualified} is known to have no NULL")

    def _expand(self, cube: Cube, text: str, member: Member | None = None) -> str:
        """The text with all references replaced, and its table before each column."""
        text = join_lines(text)
        if "{" in _REFERENCE.sub("", text):
            raise UnusableDefinition(f"it has a template: {text}")
        marked = _REFERENCE.sub(
            lambda found: ".".join(enquote(f"{{{name}}}") for name in found.groups() if name), text
        )
        return rewrite_columns(
            marked, self._catalog.dialect, lambda column: self._resolve(cube, column, member)
        )

    def _resolve(self, cube: Cube, column: exp.Column, member: Member | None) -> str:
        """The SQL of what ``{CUBE.name}``, ``{CUBE}.column`` or ``column`` refers to."""
        owner, name = column.table.strip("{}"), column.name.strip("{}")
        if column.db or owner not in ("", "CUBE", cube.name, cube.entity):
            named = ".".join(part.name.strip("{}") for part in column.parts)
            raise UnusableDefinition(f"it refers to {named}, which is not of {cube.name}")
        members = {each.name: each for each in (*cube.measures, *cube.dimensions)}
        by_name = member is not None and member.by_name
        members |= member.inputs if member else {}
        if name == column.name and not (by_name and name in members):
            written = column.this.sql(self._catalog.dialect)
            return f"{self.name_table(cube)}.{written}"
        if name not in members:
            raise UnusableDefinition(f"it refers to {name!r}, which is not there")
        meaning = self.read(cube, members[name])
        if meaning.condition:
            if not meaning.is_aggregate:
                raise UnusableDefinition(f"it reads {name}, which has a filter of its own")
            return f"{meaning.text} FILTER (WHERE {meaning.condition})"
        is_plain = meaning.is_aggregate or re.fullmatch(r'[\w."]+', meaning.text)
        return meaning.text if is_plain else f"({meaning.text})"
