"""The strictly validated body of ``POST /feedback``, and its response."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class FeedbackRequest(BaseModel):
    """The body of ``POST /feedback``."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "question": "How many employees are currently active?",
                    "sql": "SELECT count(*) FROM employees",
                    "verdict": "wrong",
                    "correction": "SELECT count(*) FROM employees WHERE status = 'ACT'",
                }
            ]
        },
    )

    question: str = Field(description="The question as it was asked.")
    sql: str = Field("", description="The query of the answer.")
    reference: str = Field(
        "", description="The answer's `reference`, instead of `database` and `sql`."
    )
    verdict: Literal["right", "wrong"] = Field(description="Whether it answers the question.")
    correction: str | None = Field(
        None, description="If it is wrong: the query that answers the question."
    )
    database: str | None = Field(None, description="The database that was asked.")


class FeedbackResponse(BaseModel):
    """What the service did with the feedback.

    ``stored``: the query was added to the examples; ``known``: it already was an example;
    ``removed``: it was removed from the examples; ``recorded``: the feedback was only recorded.
    """

    outcome: Literal["stored", "known", "removed", "recorded"]
    example: str = Field("", description="The example's id; empty if there is none.")
    id: str = Field("", description="Its own id: `DELETE /feedback/{id}` takes it back.")
