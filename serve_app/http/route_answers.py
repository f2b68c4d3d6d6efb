"""Responses of routes: models of the contract, refusals, and their descriptions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from nl2sql.types import NOT_PERMITTED
from serve_app.http.problems import render_problem
from serve_app.http.responses import AnyTextJSONResponse
from serve_app.service.operations import Refusal

Responses = dict[int | str, dict[str, Any]]

MOST_ON_PAGE = 200

After = Annotated[str, Query(max_length=4000, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MOST_ON_PAGE, description="Most entries of the page.")]
Search = Annotated[str, Query(max_length=200, description="Only what contains this text.")]

_TEXTS = {
    401: "The request carries no known token.",
    403: "The principal may not see that.",
    404: "There is nothing of that name, or the principal does not see it.",
    406: "No accepted format is served.",
    422: "The request is invalid.",
    429: "A limit of the principal is reached; Retry-After says when to go on.",
    503: "A dependency does not answer; try again later.",
}


def describe_responses(
    text: str, model: type[BaseModel] | None = None, *statuses: int, status: int = 200
) -> Responses:
    """What OpenAPI says of a route: its answer, and the problems of these statuses."""
    answer: dict[str, Any] = {"description": text} | ({"model": model} if model else {})
    numbers = sorted({401, 422, 503, *statuses})
    responses: Responses = {status: answer}
    responses.update({number: {"description": _TEXTS[number]} for number in numbers})
    return responses


def render_model(model: BaseModel | Refusal, *, status: int = 200) -> JSONResponse:
    """The model as JSON, whatever its texts hold; a refusal as a problem."""
    if isinstance(model, Refusal):
        return render_refusal(model)
    return AnyTextJSONResponse(model.model_dump(), status_code=status)


def render_refusal(refusal: Refusal) -> JSONResponse:
    """A problem with the refusal's code: 403 for what is withheld from the principal."""
    members = {"code": refusal.code}
    if refusal.code == NOT_PERMITTED:
        return render_problem(403, "Not permitted", refusal.reason, members=members)
    return render_problem(422, "Refused", refusal.reason, members=members)
