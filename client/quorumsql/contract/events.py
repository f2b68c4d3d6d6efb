"""What a stream of ``POST /query`` tells while the question is answered, then the answer.

On the wire each is a server-sent event: its kind as ``event``, the rest as JSON. ``problem`` takes
the place of ``answer`` where there is none.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field

from quorumsql.contract.answers import QueryResponse, ResultColumn
from quorumsql.contract.model import ResponseModel, Rows, Text


class StageEvent(ResponseModel):
    """How far the question is.

    ``done`` of ``total`` counts candidates; both are 0 where nothing is counted. Where the model
    works, its tokens, in all candidates together.
    """

    event: Literal["stage"] = "stage"
    stage: Text
    done: int = 0
    total: int = 0
    prompt_tokens_read: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0


class CandidateEvent(ResponseModel):
    """A candidate query, and whether the guard and the database accept it."""

    event: Literal["candidate"] = "candidate"
    id: Text
    sql: Text
    samples: int = Field(description="How many completions of the model came to this query.")
    status: Literal["accepted", "refused", "failed"]
    reason: Text = Field("", description="Why it was refused or failed.")


class VoteEvent(ResponseModel):
    """How the vote stands."""

    event: Literal["vote"] = "vote"
    samples: int
    leader: Text = Field(description="The query that leads; empty where none gave a result.")
    votes: int = Field(description="The samples whose result is the leader's.")
    quorum: bool
    settled: bool = Field(description="Whether all samples agree, so that no more are drawn.")


class RowsEvent(ResponseModel):
    """The rows of the answer, before it is put in words."""

    event: Literal["rows"] = "rows"
    sql: Text = Field(description="The query.")
    columns: list[ResultColumn]
    rows: Rows
    truncated: bool


class AnswerEvent(ResponseModel):
    """The last event of a stream."""

    event: Literal["answer"] = "answer"
    answer: QueryResponse


ProgressEvent = StageEvent | CandidateEvent | VoteEvent | RowsEvent
Event = ProgressEvent | AnswerEvent

_KINDS: dict[str, type[ProgressEvent]] = {
    kind.model_fields["event"].default: kind for kind in get_args(ProgressEvent)
}


def read_event(kind: str, data: Any) -> ProgressEvent | None:
    """The event of that kind; None for one that only a newer service sends.

    Raises ValidationError for another document.

    >>> read_event("stage", {"stage": "plan", "mood": "good"}).stage
    'plan'
    """
    return _KINDS[kind].model_validate(data) if kind in _KINDS else None
