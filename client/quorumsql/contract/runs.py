"""The body of ``POST /run`` and its response."""

from __future__ import annotations

from typing import ClassVar

from pydantic import ConfigDict, Field

from quorumsql.contract.answers import ResultColumn
from quorumsql.contract.model import PREDICATES, Listed, RequestModel, Rows, SpreadsheetSafe, Text


class RunRequest(RequestModel):
    """The body of ``POST /run``."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sql": "SELECT count(*) FROM employees"}]}
    )

    sql: str = Field(description="The query.")
    database: str | None = Field(None, description="The database.")
    max_rows: int | None = Field(None, description="Most rows to return.")
    spreadsheet_safe: SpreadsheetSafe = False


class RunResponse(Listed):
    """The rows of a query that the guard let pass."""

    LISTED: ClassVar = ("rows",)

    database: Text
    sql: Text = Field(description="The query as it was sent.")
    columns: list[ResultColumn]
    rows: Rows = Field(description="JSON values; dates and long numbers as text.")
    truncated: bool = Field(description="Whether there are more rows than these.")
    cut: list[list[int]] = Field(description="[row, column] of each truncated cell, from 0.")
    ms: float = Field(description="How long the database took.")
    predicates: list[Text] = Field(description=PREDICATES)
    tables: list[Text] = Field(description="The tables that the query reads.")
    description: Text = Field("", description="What the query asks for, in words from the query.")
