"""What the routes share: who asks, parameters, responses and their descriptions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from nl2sql.errors import Unauthenticated
from nl2sql.types import Principal
from serve_app.http.responses import AnyTextJSONResponse


def read_principal(request: Request) -> Principal:
    """The principal whom ``Identification`` left in the state. Raises Unauthenticated."""
    principal: Principal | None = request.state.principal
    if principal is None:
        # Only where the front was left out: it sets a principal or answers 401.
        raise Unauthenticated("The request was not identified.")
    return principal


Caller = Annotated[Principal, Depends(read_principal)]


Responses = dict[int | str, dict[str, Any]]

After = Annotated[str, Query(max_length=4000, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Most entries of the page.")]
Search = Annotated[str, Query(max_length=200, description="Only what contains this text.")]

_ERRORS = {
    401: "The request carries no known token.",
    403: "The principal may not see that.",
    404: "There is nothing of that name, or the principal does not see it.",
    422: "The request is invalid.",
    429: "A limit of the principal is reached; Retry-After says when to go on.",
    503: "A dependency does not answer; try again later.",
    504: "There was no answer in time.",
}
ERRORS: Responses = {status: {"description": text} for status, text in _ERRORS.items()}
"""What a route may answer instead, as a problem document."""

TOO_LARGE: Responses = {413: {"description": "The body is too large."}}


def describe_response(text: str, model: Any = None, *, status: int = 200) -> Responses:
    """What OpenAPI says of a route's answer."""
    return {status: {"description": text} | ({"model": model} if model else {})}


def render_model(model: BaseModel) -> JSONResponse:
    """The model as JSON, whatever its texts hold."""
    return AnyTextJSONResponse(model.model_dump())
