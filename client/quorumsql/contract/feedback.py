"""The body of ``POST /feedback``, checked strictly, and what came of it."""

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
    sql: str = Field(description="The query that was answered with.")
    verdict: Literal["right", "wrong"] = Field(description="Whether it answers the question.")
    correction: str | None = Field(
        None, description="Where it is wrong: the query that answers the question."
    )
    database: str | None = Field(None, description="The database it is about.")


class FeedbackResponse(BaseModel):
    """What came of it.

    ``stored``: the query is an example now, ``known``: it was one already, ``removed``: it was one
    and is no more, ``recorded``: noted, and nothing else to do.
    """

    outcome: Literal["stored", "known", "removed", "recorded"]
    example: str = Field("", description="The example's id; empty where there is none.")
