"""The body of ``POST /run`` and its response."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from quorumsql.contract.answers import ResultPage
from quorumsql.contract.model import PREDICATES, RequestModel, SpreadsheetSafe, Text


class RunRequest(RequestModel):
    """The body of ``POST /run``."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sql": "SELECT count(*) FROM employees"}]}
    )

    sql: str = Field(description="The query.")
    database: str | None = Field(None, description="The database.")
    max_rows: int | None = Field(None, description="Most rows to return.")
    spreadsheet_safe: SpreadsheetSafe = False


class RunResponse(ResultPage):
    """The rows of a query that the guard let pass."""

    database: Text
    sql: Text = Field(description="The query as it was sent.")
    ms: float = Field(description="How long the database took.")
    predicates: list[Text] = Field(description=PREDICATES)
    tables: list[Text] = Field(description="The tables that the query reads.")
    description: Text = Field("", description="What the query asks for, in words from the query.")
