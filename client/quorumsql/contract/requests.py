"""The strictly validated bodies of ``POST /query`` and ``POST /run``."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from quorumsql.contract.model import CandidateCount, RequestModel, SpreadsheetSafe


class QueryRequest(RequestModel):
    """The body of ``POST /query``. The settings give the defaults of omitted keys."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "How many employees are currently active?"}]}
    )

    question: str = Field(description="The question in plain language.")
    evidence: str = Field("", description="Additional knowledge, such as a definition.")
    database: str | None = Field(None, description="The database to ask.")
    k: CandidateCount | None = Field(
        None,
        description="Number of candidates; adaptive: four, and four more where these do not agree.",
    )
    seed: int | None = Field(None, ge=0, lt=2**31, description="Seed for repeatable answers.")
    max_rows: int | None = Field(None, description="Most rows to return.")
    chosen_sql: str = Field(
        "",
        description="The `sql` of the interpretation that you choose: the query is "
        "guarded and run, and no candidates are sampled.",
    )
    session: str | None = Field(
        None,
        description="The conversation that the question belongs to: an id of your own (1 to 64 "
        "letters, digits, dots, dashes, underscores), or `new` to get one with the answer.",
    )
    answer_text: Literal["off", "rule", "model"] | None = Field(
        None, description="What puts the answer into words: nothing, a rule, or the model."
    )
    trace: bool = Field(False, description="Include the trace: everything that led to the answer.")
    spreadsheet_safe: SpreadsheetSafe = False


class RunRequest(RequestModel):
    """The body of ``POST /run``."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sql": "SELECT count(*) FROM employees"}]}
    )

    sql: str = Field(description="The query.")
    database: str | None = Field(None, description="The database.")
    max_rows: int | None = Field(None, description="Most rows to return.")
    spreadsheet_safe: SpreadsheetSafe = False
