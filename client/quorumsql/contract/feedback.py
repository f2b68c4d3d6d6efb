"""Feedback on answers, as principals give it and as reviewers work through it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from quorumsql.contract.model import Listed, RequestModel, ResponseModel, Text

_WRONG: JsonDict = {
    "question": "How many employees are currently active?",
    "sql": "SELECT count(*) FROM employees",
    "verdict": "wrong",
    "correction": "SELECT count(*) FROM employees WHERE status = 'ACT'",
}


class FeedbackRequest(RequestModel):
    """The body of ``POST /feedback``."""

    model_config = ConfigDict(json_schema_extra={"examples": [_WRONG]})

    question: str = Field(description="The question as it was asked.")
    sql: str = Field("", description="The query of the answer; empty if there was none.")
    verdict: Literal["right", "wrong"] = Field(description="Whether it answers the question.")
    correction: str | None = Field(
        None, description="If it is wrong: the query that answers the question."
    )
    database: str | None = Field(None, description="The database that was asked.")
    parameters: list[str] | None = Field(
        None,
        description="Of a reviewer: the values that may be others, by the names of `parameters` in "
        "the response to the same feedback without them. Without the field those that are stored "
        "stay, an empty list removes them.",
    )


class ParameterResponse(ResponseModel):
    """A value of the right query that the question says."""

    name: Text
    phrase: Text = Field(description="The value as the question says it.")
    type: Literal["integer", "number", "text", "date"]
    column: Text = Field("", description="The column whose values a text may have.")
    literal: Text = Field("", description="The value as the query writes it.")
    chosen: bool = Field(False, description="Whether the stored query has it as a parameter.")


class WithheldResponse(ResponseModel):
    """A value of the right query that cannot be a parameter, and why."""

    literal: Text
    reason: Text


class FeedbackResponse(ResponseModel):
    """What the service did with the feedback.

    ``stored``: the query was added to the examples; ``known``: it already was an example;
    ``removed``: it was removed from the examples; ``recorded``: the feedback was only recorded.
    """

    outcome: Literal["stored", "known", "removed", "recorded"]
    example: str = Field("", description="The example's id; empty if there is none.")
    id: str = Field("", description="Its own id: `DELETE /feedback/{id}` takes it back.")
    parameters: list[ParameterResponse] = Field(
        [], description="To a reviewer: the values that can be made parameters."
    )
    withheld: list[WithheldResponse] = Field([], description="And those that cannot.")
    marked: Text = Field(
        "", description="The query as it is stored with all of `parameters`, as `:name`."
    )


class VerifiedSourceResponse(ResponseModel):
    """A verified query that gave an answer, with these or other values."""

    question: Text = Field(description="Its question; a parameter is `:name`.")
    given_by: Text
    given_at: Text
    example: Text = Field(description="Its id: `quorumsql examples remove` removes it.")
    feedback: Text = Field(
        description="`DELETE /feedback/{id}` withdraws it; empty for one from a file."
    )


class ReviewEntryResponse(ResponseModel):
    """Feedback on one answer, or a question that was asked back."""

    id: Text
    database: Text
    question: Text
    sql: Text = Field(description="The query of the answer; empty if there was none.")
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
    name: Text = Field("", description="Words of the question that may need a definition.")
    expression: Text = Field("", description="The condition that these words may mean.")
    verified: VerifiedSourceResponse | None = Field(
        None,
        description="The verified query that gave a wrong answer, or that a right one still is.",
    )


class TrialRequest(RequestModel):
    """The body of ``POST /feedback/{id}/trial``: a fix, and the question that is asked with it."""

    sql: str = Field("", description="The right query, as an example; or nothing.")
    name: str = Field("", description="A word that gets a definition; or nothing.")
    expression: str = Field("", description="What it means: a condition, or a figure.")
    example: str = Field("", description="A question of the exam, by its id; empty: the entry's.")


class TrialResponse(ResponseModel):
    """What a question is answered with while the fix holds.

    ``right``: as its right query; ``lost``: it is so without the fix only; ``wrong``: not so either
    way; ``unknown``: no right query is known, or its whole result cannot be read.
    """

    question: Text
    verdict: Literal["right", "lost", "wrong", "unknown"]
    sql: Text = Field(description="The query of the answer; empty if there is none.")
    reason: Text = Field("", description="Why there is no answer, or no verdict.")
    example_shown: bool = Field(
        False, description="Whether the question was asked with the right query as an example."
    )
    definition: Text = Field(
        "",
        description="The lines for the file of definitions, if the question names what is defined.",
    )
    keep: Text = Field("", description="How the definition is kept: the file and the commands.")


class ExamQuestionResponse(ResponseModel):
    """A question that a reviewer called right."""

    id: Text
    question: Text
    sql: Text = Field(description="Its right query.")


class ExamResponse(Listed):
    """The questions with which a fix is tried, those most like the entry's first."""

    LISTED: ClassVar = ("questions",)

    questions: list[ExamQuestionResponse]
    total: int = Field(description="The number of the exam's questions.")


class ReviewResponse(Listed):
    """A page of feedback, the gravest first; it may be empty though others follow."""

    LISTED: ClassVar = ("entries",)

    entries: list[ReviewEntryResponse]
    next: Text | None = Field(description="`after` of the next page; null at the end.")
