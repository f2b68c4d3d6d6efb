"""Errors as ``application/problem+json`` (RFC 9457), under ``/v1`` in OpenAI's form.

A traceback never leaves the service. The document has at most 16 KiB, however much of a request an
error quotes.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType, UnionType
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from nl2sql.errors import (
    Busy,
    DeadlineExceeded,
    Forbidden,
    InsecureRole,
    InvalidRequest,
    LimitReached,
    PolicyError,
    PromptTooLong,
    QuorumError,
    ServerUnavailable,
    Unauthenticated,
    Unavailable,
    UnknownDatabase,
)
from nl2sql.types import NOT_PERMITTED
from quorumsql.wire import BUSY
from serve_app.http.disconnection import ClientGone
from serve_app.http.openai.responses import build_error
from serve_app.http.responses import AnyTextJSONResponse
from serve_app.service.request_checks import NotFound

_LOG = logging.getLogger("quorumsql")
# nginx's status for a client that closed the request; nobody reads it but a log.
CLIENT_GONE = 499
RETRY_AFTER_S = "5"
# The first that fits an error: its status and title.
_KINDS: tuple[tuple[type[Exception] | UnionType, int, str], ...] = (
    (ClientGone, CLIENT_GONE, "Client gone"),
    (NotFound, 404, "Not found"),
    (UnknownDatabase, 404, "Unknown database"),
    (InvalidRequest, 422, "Invalid request"),
    (PromptTooLong, 422, "Prompt too long"),
    (Forbidden, 403, "Not permitted"),
    (Unauthenticated, 401, "Not authenticated"),
    (LimitReached, 429, "Limit reached"),
    (Busy, 503, BUSY),
    (Unavailable | InsecureRole | PolicyError, 503, "Temporarily unavailable"),
    (DeadlineExceeded, 504, "Took too long"),
)
# A request can have as many errors as bytes, and JSON may need six bytes for a character.
_MOST_ERRORS = 6
_LONGEST_DETAIL = 800
_LONGEST_FIELD = 100
_LONGEST_MESSAGE = 200


class ProblemResponse(AnyTextJSONResponse):
    """A problem document, or under ``/v1`` what OpenAI's clients read instead."""

    media_type = "application/problem+json"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith("/v1/"):
            await super().__call__(scope, receive, send)
            return
        headers = {name: text for name, text in self.headers.items() if name != "content-length"}
        headers["content-type"] = "application/json"
        if "retry-after" in headers:
            headers["retry-after-ms"] = str(int(headers["retry-after"]) * 1000)
        # OpenAI answers 400 to what cannot be processed.
        status = 400 if self.status_code == 422 else self.status_code
        error = build_error(self.status_code, json.loads(bytes(self.body)))
        await AnyTextJSONResponse(error, status, headers)(scope, receive, send)


def render_problem(
    status: int,
    title: str,
    detail: str,
    *,
    errors: Sequence[dict[str, str]] = (),
    members: Mapping[str, Any] = MappingProxyType({}),
) -> JSONResponse:
    """A problem document; ``errors`` name fields of the request, ``members`` are added to it."""
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status}
    body |= {"detail": _shorten(detail, _LONGEST_DETAIL), **members}
    if errors:
        body["errors"] = [
            {
                "field": _shorten(error["field"], _LONGEST_FIELD),
                "message": _shorten(error["message"], _LONGEST_MESSAGE),
            }
            for error in errors[:_MOST_ERRORS]
        ]
    headers = {"Retry-After": RETRY_AFTER_S} if status == 503 else None
    return ProblemResponse(body, status_code=status, headers=headers)


def render_error(error: Exception) -> JSONResponse:
    """The problem document of an error; an unexpected error is not described in it."""
    found = next(
        ((status, title) for kind, status, title in _KINDS if isinstance(error, kind)), None
    )
    if found is None:
        _LOG.error("unexpected error", exc_info=error)
        return render_problem(
            500, "Internal error", "The service failed unexpectedly; its log has the details."
        )
    if isinstance(error, ServerUnavailable):
        _LOG.warning("%s", error.details)
    errors = []
    if isinstance(error, InvalidRequest):
        errors = [{"field": error.field, "message": error.message}]
    members = {"code": NOT_PERMITTED} if isinstance(error, Forbidden) else {}
    response = render_problem(*found, str(error), errors=errors, members=members)
    if isinstance(error, Unauthenticated):
        response.headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, LimitReached | Unavailable):
        response.headers["Retry-After"] = str(max(math.ceil(error.retry_after_s), 1))
    return response


def describe_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and the problem document of an error."""
    response = render_error(error)
    document: dict[str, Any] = json.loads(bytes(response.body))
    return response.status_code, document


def install_problem_handlers(app: FastAPI) -> None:
    """Makes ``app`` answer every error with a problem document."""

    @app.exception_handler(QuorumError)
    @app.exception_handler(ClientGone)
    @app.exception_handler(Exception)
    async def other(_: Request, error: Exception) -> JSONResponse:
        return render_error(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return _render_invalid(error.errors())

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:
            # Only FastAPI's reader of bodies raises it: for bytes that are not UTF-8.
            return _render_invalid([{"type": "json_invalid"}])
        hint = f": see {app.docs_url} for what there is." if error.status_code in (404, 405) else ""
        response = render_problem(error.status_code, "Request failed", f"{error.detail}{hint}")
        response.headers.update(error.headers or {})
        return response


def _render_invalid(found: Sequence[Any]) -> JSONResponse:
    errors = [_describe(problem) for problem in found[:_MOST_ERRORS]]
    detail = "; ".join(f"{error['field']}: {error['message']}" for error in errors)
    if len(found) > len(errors):
        detail = f"{len(found)} errors, the first of them: {detail}"
    return render_problem(422, "Invalid request", detail, errors=errors)


def _describe(problem: Any) -> dict[str, str]:
    if problem["type"] == "json_invalid":
        return {"field": "body", "message": "The body is not valid JSON."}
    if problem["type"] == "model_attributes_type" and len(problem["loc"]) == 1:
        message = "Send a JSON object, with the header content-type: application/json."
        return {"field": "body", "message": message}
    location = [str(part) for part in problem["loc"] if part != "body"]
    return {
        "field": _shorten(".".join(location) or "body", _LONGEST_FIELD),
        "message": _shorten(problem["msg"], _LONGEST_MESSAGE),
    }


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
