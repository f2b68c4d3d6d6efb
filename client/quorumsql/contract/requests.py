"""The body of ``POST /query``, checked strictly."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class QueryRequest(BaseModel):
    """The body of ``POST /query``. What is left out comes from the settings."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"question": "How many employees are currently active?"}]},
    )

    question: str = Field(description="The question in plain language.")
    evidence: str = Field("", description="What you know besides, such as a definition.")
    database: str | None = Field(None, description="The database it is about.")
    k: int | None = Field(
        None, description="How many candidates to sample; 0: as many as the question needs."
    )
    seed: int | None = Field(None, ge=0, lt=2**31, description="Seed; a run repeats with it.")
    max_rows: int | None = Field(None, description="Most rows to return.")
    picked: str = Field(
        "",
        description="The `sql` of the interpretation that you choose: it is guarded and run, and "
        "nothing is sampled.",
    )
    session: str | None = Field(
        None,
        description="The conversation that the question belongs to: an id of your own (1 to 64 "
        "letters, digits, dots, dashes, underscores), or `new` for one that the answer brings.",
    )
    answer_text: Literal["off", "rule", "model"] | None = Field(
        None, description="Who puts the answer in words: nobody, a rule, or the model."
    )
    trace: bool = Field(False, description="Add everything that led to the answer.")
    spreadsheet_safe: bool = Field(
        False,
        description="In CSV, an apostrophe before text that a spreadsheet would run as a formula.",
    )
