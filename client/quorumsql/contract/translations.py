"""The answer to ``POST /translate``: the SQL without its rows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from quorumsql.contract.answers import (
    AnsweredResponse,
    ClarifyResponse,
    FailedResponse,
    QueryResponse,
    RefusedResponse,
    Response,
)
from quorumsql.contract.model import Text


class TranslatedResponse(Response):
    """The query, and how sure the vote is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "outcome": "translated",
                    "question": "How many employees are currently active?",
                    "database": "demo_erp",
                    "sql": "SELECT COUNT(*) FROM employees WHERE status = 'ACT'",
                    "confidence": 0.83,
                    "quorum": True,
                }
            ]
        }
    )

    outcome: Literal["translated"] = "translated"
    sql: Text = Field(description="The query before the guard's rewriting.")
    confidence: float = Field(description="The probability that the query is right, 0 to 1.")
    quorum: bool = Field(description="Whether enough samples agree on its result.")


TranslateResponse = Annotated[
    TranslatedResponse | RefusedResponse | ClarifyResponse | FailedResponse,
    Field(discriminator="outcome"),
]

_RESPONSES: TypeAdapter[Any] = TypeAdapter(TranslateResponse)


def drop_rows(answer: QueryResponse) -> TranslateResponse:
    """The same answer without rows."""
    if not isinstance(answer, AnsweredResponse):
        return answer
    fields = answer.model_dump(include=set(TranslatedResponse.model_fields) - {"outcome"})
    return TranslatedResponse.model_validate(fields)


def read_translation(body: Any) -> TranslateResponse:
    """The answer in the JSON of a service. Raises ValidationError for another document."""
    response: TranslateResponse = _RESPONSES.validate_python(body)
    return response
