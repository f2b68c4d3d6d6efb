"""The answers to ``POST /query`` and ``POST /translate``, by ``outcome``, and to ``POST /run``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.config import JsonDict

from quorumsql.contract.model import PREDICATES, Listed, ResponseModel, Rows, Text
from quorumsql.contract.trace import TraceResponse
from quorumsql.tables import to_pandas

if TYPE_CHECKING:
    import pandas as pd


class Response(ResponseModel):
    """What all answers have in common."""

    question: Text = Field(description="The question as it was asked.")
    database: Text
    session: Text | None = Field(None, description="The conversation it belongs to.")
    rewritten: Text | None = Field(
        None, description="The complete question, if it was completed from earlier ones."
    )
    notes: list[Text] = Field([], description="Remarks, such as that sampling ended early.")
    trace: TraceResponse | None = Field(
        None, description="Everything that led to the answer, if requested."
    )


class ResultColumn(ResponseModel):
    """A column of the result."""

    name: Text
    type: Text = Field(description="The database's name of the type.")
    heading: Text = Field(
        "",
        description="What it is called for people: a word where the query gives no name, and its "
        "unit where the schema or a definition tells it.",
    )


class ResultPage(Listed):
    """The first rows of a result, or all of them."""

    LISTED: ClassVar = ("rows",)

    columns: list[ResultColumn]
    rows: Rows = Field(description="JSON values; dates and long numbers as text.")
    truncated: bool = Field(description="Whether there are more rows than these.")
    cut: list[list[int]] = Field(description="[row, column] of each truncated cell, from 0.")


_TRANSLATED: JsonDict = {
    "outcome": "translated",
    "question": "How many employees are currently active?",
    "database": "demo_erp",
    "sql": "SELECT COUNT(*) FROM employees WHERE status = 'ACT'",
    "confidence": 0.83,
    "quorum": True,
}
_ANSWERED: JsonDict = {
    **_TRANSLATED,
    "outcome": "answered",
    "text": "Answer: 302.",
    "text_source": "rule",
    "columns": [{"name": "count", "type": "int8", "heading": "count"}],
    "rows": [[302]],
    "truncated": False,
    "cut": [],
}


class VerifiedResponse(ResponseModel):
    """Who gave the query as the right one for this question, and when."""

    by: Text
    at: Text = Field(description="ISO 8601, UTC.")
    source: Text = Field(description="`feedback` or `file`.")
    label: Text = Field(description="The same in words, to be shown with the answer.")
    title: Text = Field("", description="The title of the query; empty if it has none.")
    parameters: dict[Text, Text] = Field(
        {}, description="The values that the question gives the parameters of the query."
    )


class AnsweredResponse(ResultPage, Response):
    """The query, its rows and the confidence."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ANSWERED]})

    outcome: Literal["answered"] = "answered"
    sql: Text = Field(description="The query before the guard's rewriting.")
    confidence: float = Field(description="The probability that the answer is right, 0 to 1.")
    quorum: bool = Field(description="Whether enough samples agree on this result.")
    text: Text = Field(description="The answer in words; empty if not requested.")
    text_source: Text
    description: Text = Field("", description="What the query asks for, in words from the query.")
    verified: VerifiedResponse | None = Field(
        None,
        description="If somebody gave this query as the right one for this question. Then nothing "
        "was sampled, and `confidence` is 1.",
    )

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame. Raises ImportError without pandas."""
        return to_pandas(self)


class RefusedResponse(Response):
    """The question is deliberately not answered."""

    outcome: Literal["refused"] = "refused"
    code: Text = Field(description="The reason as a stable code for programs.")
    reason: Text
    suggestions: list[Text] = Field([], description="Questions that could be answered.")


class InterpretationResponse(ResultPage):
    """One of the queries that a `clarify` answer offers, with the first of its rows, at most 20.

    For all, send its `sql` as `chosen_sql`.
    """

    sql: Text = Field(description="The query.")
    description: Text = Field(description="What the query asks for, in words.")
    share: float = Field(description="The share of the samples that agree on this reading.")


class ClarifyResponse(Listed, Response):
    """The confidence is too low to answer."""

    LISTED: ClassVar = ("interpretations",)

    outcome: Literal["clarify"] = "clarify"
    reason: Text
    confidence: float
    interpretations: list[InterpretationResponse] = Field(
        description="One or two, the nearest first, with its rows. They differ in what they say. "
        "Choose one by sending its `sql` as `chosen_sql`."
    )


class AttemptResponse(ResponseModel):
    """A query that did not work."""

    sql: Text
    origin: Text
    error: Text
    error_class: Text


class FailedResponse(Response):
    """No candidate gave a result."""

    outcome: Literal["failed"] = "failed"
    reason: Text
    attempts: list[AttemptResponse] = Field([], description="The queries that were tried.")


QueryResponse = Annotated[
    AnsweredResponse | RefusedResponse | ClarifyResponse | FailedResponse,
    Field(discriminator="outcome"),
]


class TranslatedResponse(Response):
    """The query, and how sure the vote is."""

    model_config = ConfigDict(json_schema_extra={"examples": [_TRANSLATED]})

    outcome: Literal["translated"] = "translated"
    sql: Text = Field(description="The query before the guard's rewriting.")
    confidence: float = Field(description="The probability that the query is right, 0 to 1.")
    quorum: bool = Field(description="Whether enough samples agree on its result.")


TranslateResponse = Annotated[
    TranslatedResponse | RefusedResponse | ClarifyResponse | FailedResponse,
    Field(discriminator="outcome"),
]


class RunResponse(ResultPage):
    """The rows of a query that the guard let pass."""

    database: Text
    sql: Text = Field(description="The query as it was sent.")
    ms: float = Field(description="How long the database took.")
    predicates: list[Text] = Field(description=PREDICATES)
    tables: list[Text] = Field(description="The tables that the query names.")
    description: Text = Field("", description="What the query asks for, in words from the query.")


read_response: Callable[[Any], QueryResponse] = TypeAdapter(QueryResponse).validate_python
"""The answer in parsed JSON. Raises ValidationError for another document."""

read_translation: Callable[[Any], TranslateResponse] = TypeAdapter(
    TranslateResponse
).validate_python
"""The same for ``POST /translate``."""
