"""A principal's own conversations."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from quorumsql.contract.model import Listed, ResponseModel, Text


class ConversationEntryResponse(ResponseModel):
    """A conversation in a list."""

    id: Text = Field(description="The `session` of its questions.")
    title: Text
    database: Text = Field(description="The database of the latest question.")
    asked_at: Text = Field(description="When the latest question was asked (ISO 8601, UTC).")
    questions: int


class ConversationsResponse(Listed):
    """A page of conversations, the latest first."""

    LISTED: ClassVar = ("conversations",)

    conversations: list[ConversationEntryResponse]
    next: Text | None = Field(description="`after` of the next page; null at the end.")


class ConversationTurnResponse(ResponseModel):
    """A question of a conversation; never its rows."""

    id: Text
    question: Text
    rewritten: Text | None = Field(description="The complete question, if it was completed.")
    database: Text
    outcome: Text = Field(description="`answered`, `refused`, `clarify` or `failed`.")
    sql: Text = Field(description="The query of an answer; empty if there is none to show.")
    is_withheld: bool = Field(description="The query may not be run any more, so it is not shown.")
    asked_at: Text
    confidence: float | None = Field(
        None, description="That of the answer when it was given; null if there was none."
    )
    quorum: bool | None = Field(None, description="As of the answer.")
    origin: Text = Field(
        "",
        description="Where its query came from: `sample`, `repair`, `derived`, `chosen` (a reading "
        "that was chosen) or `verified`.",
    )


class ConversationResponse(Listed, ConversationEntryResponse):
    """A conversation with its latest questions, at most 100, oldest first."""

    LISTED: ClassVar = ("turns",)

    turns: list[ConversationTurnResponse]


class DeletedResponse(ResponseModel):
    """What was deleted."""

    conversations: int
    questions: int
