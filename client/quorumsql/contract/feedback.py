"""Feedback on answers, as principals give it and as reviewers work through it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from quorumsql.contract.model import Listed, RequestModel, ResponseModel, Text


class FeedbackRequest(RequestModel):
    """The body of ``POST /feedback``."""

    model_config = ConfigDict(
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
    sql: str = Field(description="The query of the answer.")
    verdict: Literal["right", "wrong"] = Field(description="Whether it answers the question.")
    correction: str | None = Field(
        None, description="If it is wrong: the query that answers the question."
    )
    database: str | None = Field(None, description="The database that was asked.")


class FeedbackResponse(ResponseModel):
    """What the service did with the feedback.

    ``stored``: the query was added to the examples; ``known``: it already was an example;
    ``removed``: it was removed from the examples; ``recorded``: the feedback was only recorded.
    """

    outcome: Literal["stored", "known", "removed", "recorded"]
    example: str = Field("", description="The example's id; empty if there is none.")
    id: str = Field("", description="Its own id: `DELETE /feedback/{id}` takes it back.")


class ReviewEntryResponse(ResponseModel):
    """Feedback on one answer, or a question that was asked back."""

    id: Text
    database: Text
    question: Text
    sql: Text = Field(description="The query of the answer.")
    correction: Text = Field(description="The query that answers the question; may be empty.")
    given_by: Text
    given_at: Text
    state: Literal["open", "done"]
    reviewed_by: Text = Field(description="Who worked through it; empty: nobody yet.")
    corrected_by: Text = Field(
        "", description="Who gave the query that answers the question; empty: nobody yet."
    )
    kind: Literal["right", "wrong", "asked_back", "corrected"] = Field(
        "wrong",
        description="`asked_back`: a question of your own that was asked back; `sql` and "
        "`correction` are its readings. `corrected`: a correction is there to be looked at.",
    )
    cause: Literal["table", "value", "definition", "other"] = Field(
        "other", description="What was not found or is not defined, as far as the queries show it."
    )
    fix: Text = Field("", description="The smallest change that helps, in words.")


class ReviewResponse(Listed):
    """A page of feedback, the gravest first; it may be empty though others follow."""

    LISTED: ClassVar = ("entries",)

    entries: list[ReviewEntryResponse]
    next: Text | None = Field(description="`after` of the next page; null at the end.")
