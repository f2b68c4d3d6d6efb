"""Databases, their tables and definitions, as ``GET /databases/…`` shows them."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from quorumsql.contract.model import Listed, ResponseModel, Text


class DatabaseResponse(ResponseModel):
    """A database that the principal may ask."""

    name: Text
    description: Text
    dialect: Text = Field(description="Its SQL dialect, under sqlglot's name.")
    is_default: bool = Field(description="Whether it is asked if a request names none.")
    tables: int = Field(description="How many tables the principal sees.")


class DatabasesResponse(Listed):
    """The databases that the principal may ask."""

    LISTED: ClassVar = ("databases",)

    databases: list[DatabaseResponse]


class TableEntryResponse(ResponseModel):
    """A table in a list."""

    table: Text = Field(description="Its name with the schema.")
    comment: Text
    gloss: Text = Field(description="What its name means, where that is not obvious.")
    columns: int
    module: Text = Field(description="The group of tables it belongs to; empty: none.")
    database_schema: Text = Field(description="The schema that its name begins with.")


class TablesResponse(Listed):
    """A page of the tables that match a search."""

    LISTED: ClassVar = ("tables",)

    tables: list[TableEntryResponse]
    next: Text | None = Field(description="`after` of the next page; null at the end.")
    total: int = Field(description="How many tables match.")
    schemas: int = Field(description="How many schemas the principal sees tables in.")


class ColumnDetailsResponse(ResponseModel):
    """A column of a table."""

    name: Text
    type: Text
    nullable: bool
    comment: Text
    gloss: Text
    is_key: bool = Field(description="Whether it belongs to the primary key.")
    values: list[Text] = Field(description="Some of its values that the principal may see.")
    values_truncated: bool = Field(description="Whether there may be other values.")
    refers_to: Text | None = Field(description="The column that its foreign key refers to.")
    is_masked: bool = Field(description="Whether rows show NULL or a hash instead of the value.")


class KeyResponse(ResponseModel):
    """A foreign key of a table."""

    columns: list[Text]
    table: Text = Field(description="The table that it refers to.")
    target_columns: list[Text]
    is_inferred: bool = Field(description="Not declared, but found by names, types and values.")


class NeighbourResponse(ResponseModel):
    """A table that a key joins to the described one."""

    table: Text
    columns: Text = Field(description="The condition, the described table's columns on the left.")
    direction: Literal["out", "in"] = Field(description="`out`: the described table has the key.")


class TableDetailsResponse(Listed):
    """A table as the principal sees it."""

    LISTED: ClassVar = ("columns",)

    table: Text
    kind: Text = Field(description="`table`, `view` or another kind of the database.")
    comment: Text
    gloss: Text
    columns: list[ColumnDetailsResponse]
    primary_key: list[Text]
    keys: list[KeyResponse]
    neighbours: list[NeighbourResponse] = Field(description="At most 100.")
    neighbours_total: int


class SemanticDefinitionResponse(ResponseModel):
    """A measure, dimension or filter of the semantic layer."""

    name: Text
    description: Text
    expression: Text = Field(description="SQL; empty for a filter.")
    condition: Text = Field(description="SQL; empty if there is none.")
    tables: list[Text] = Field(description="The tables that it reads.")
    synonyms: list[Text] = Field([], description="Other words for it, which questions may use.")


class DefinitionsResponse(Listed):
    """The definitions of which the principal may see all that they read."""

    LISTED: ClassVar = ("measures", "dimensions", "filters")

    measures: list[SemanticDefinitionResponse]
    dimensions: list[SemanticDefinitionResponse]
    filters: list[SemanticDefinitionResponse]


class SuggestionsResponse(ResponseModel):
    """Questions that the principal can ask."""

    questions: list[Text]
