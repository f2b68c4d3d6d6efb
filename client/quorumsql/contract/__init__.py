"""The contract with clients: requests, answers and traces, the same over HTTP, in the terminal and
in the evaluation.

Pydantic models, so that OpenAPI shows them. Knows nothing of HTTP.
"""

from quorumsql.contract.answers import (
    AnsweredResponse as AnsweredResponse,
    ClarifyResponse as ClarifyResponse,
    FailedResponse as FailedResponse,
    QueryResponse as QueryResponse,
    RefusedResponse as RefusedResponse,
    read_response as read_response,
)
from quorumsql.contract.requests import QueryRequest as QueryRequest
