"""Feedback on answers as reviewers work through it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quorumsql.contract.model import ResponseModel, Text


class ReviewEntryResponse(ResponseModel):
    """Feedback on one answer."""

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


class ReviewResponse(ResponseModel):
    """A page of feedback, the latest first; it may be empty though others follow."""

    entries: list[ReviewEntryResponse]
    next: Text | None = Field(description="`after` of the next page; null at the end.")
