"""The contract with clients: requests, answers and traces, the same over HTTP, in the terminal and
in the evaluation.

Pydantic models, so that OpenAPI shows them. Knows nothing of HTTP.
"""

from quorumsql.contract.answers import (
    AnsweredResponse,
    ClarifyResponse,
    FailedResponse,
    QueryResponse,
    RefusedResponse,
    TranslatedResponse,
    TranslateResponse,
    read_response,
)
from quorumsql.contract.feedback import FeedbackRequest, FeedbackResponse
from quorumsql.contract.requests import QueryRequest
from quorumsql.contract.trace import TraceResponse

__all__ = [
    "AnsweredResponse",
    "ClarifyResponse",
    "FailedResponse",
    "FeedbackRequest",
    "FeedbackResponse",
    "QueryRequest",
    "QueryResponse",
    "RefusedResponse",
    "TraceResponse",
    "TranslateResponse",
    "TranslatedResponse",
    "read_response",
]
