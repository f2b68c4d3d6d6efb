"""The client of a running service, over HTTP.

It waits for an answer as long as the service reports that it is working on it, however slow it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from nl2sql.contract import (
    FeedbackRequest,
    FeedbackResponse,
    QueryRequest,
    QueryResponse,
    read_response,
)
from nl2sql.errors import InvalidRequest, QuorumError, Unauthenticated, Unavailable
from nl2sql.types import Progress

_EVENT_STREAM = "text/event-stream"
_CONNECT_S = 10.0
# The service sends something every few seconds.
_SILENCE_S = 120.0
# For requests that need no model.
_TIMEOUT_S = 60.0
_PROGRESS_FIELDS = frozenset(field.name for field in fields(Progress))


@dataclass(frozen=True, slots=True)
class Export:
    """An answer's rows in the requested format, and the headers that describe them."""

    content: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NoRows:
    """An answer without rows: its ``outcome`` and the reason."""

    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class ServiceClient:
    """The service at ``url``, asked with a bearer ``token`` if it needs one.

    Every method raises Unavailable if nothing answers, Unauthenticated, InvalidRequest, and
    QuorumError for any other problem that the service reports.
    """

    url: str
    token: str = ""

    def query(
        self, request: QueryRequest, *, show: Callable[[Progress], None] = lambda _: None
    ) -> QueryResponse:
        """Returns the answer, however long it takes; ``show`` is called with its progress."""
        accept = f"{_EVENT_STREAM}, application/json;q=0.5"
        with self._stream("/query", request, accept) as response:
            if not response.headers.get("content-type", "").startswith(_EVENT_STREAM):
                response.read()
                return read_query(response)
            for name, data in _read_events(response.iter_bytes()):
                if name == "answer":
                    return _read_query(json.loads(data))
                if name == "problem":
                    problem = json.loads(data)
                    raise _translate(httpx.Response(problem["status"], content=data))
                show(_read_progress(json.loads(data)))
        raise Unavailable(f"The service at {self.url} ended the connection.", hint="Ask again.")

    def export(self, request: QueryRequest, media_type: str) -> Export | NoRows:
        """Returns the rows of the answer as ``media_type``, however long it takes."""
        response = self._send("POST", "/query", request, accept=media_type, timeout_s=None)
        if response.is_success:
            return Export(response.content, response.headers)
        problem = _read_problem(response)
        if "outcome" in problem:
            return NoRows(problem["outcome"], str(problem["detail"]))
        raise _translate(response)

    def feedback(self, request: FeedbackRequest) -> FeedbackResponse:
        """Sends the feedback and returns its outcome."""
        return FeedbackResponse.model_validate(_read_json(self._send("POST", "/feedback", request)))

    def forget(self, session: str) -> int:
        """Deletes a conversation and returns how many questions of it were stored."""
        return int(_read_json(self._send("DELETE", f"/sessions/{session}"))["turns"])

    def _send(
        self,
        method: str,
        path: str,
        request: BaseModel | None = None,
        *,
        accept: str = "application/json",
        timeout_s: float | None = _TIMEOUT_S,
    ) -> httpx.Response:
        with _told_when_gone(self.url):
            return httpx.request(
                method,
                self.url + path,
                json=request.model_dump() if request else None,
                headers=self._build_headers(accept),
                timeout=httpx.Timeout(timeout_s, connect=_CONNECT_S),
            )

    @contextmanager
    def _stream(self, path: str, request: BaseModel, accept: str) -> Iterator[httpx.Response]:
        with (
            _told_when_gone(self.url),
            httpx.stream(
                "POST",
                self.url + path,
                json=request.model_dump(),
                headers=self._build_headers(accept),
                timeout=httpx.Timeout(_SILENCE_S, connect=_CONNECT_S),
            ) as response,
        ):
            yield response

    def _build_headers(self, accept: str) -> dict[str, str]:
        identity = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {"Accept": accept, **identity}


def _read_events(pieces: Iterator[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yields (name, data) of each event; the service's events have one line of data.

    >>> list(_read_events(iter([b": still at work\\n\\nevent: sta", b"ge\\ndata: {}\\n\\n"])))
    [('stage', b'{}')]
    """
    name, rest = "", b""
    for piece in pieces:
        # Not splitlines(): JSON may contain other line ends, such as U+2028.
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            field, _, value = line.partition(b": ")
            if field == b"event":
                name = value.decode()
            elif field == b"data":
                yield name, value


def _read_progress(fields: dict[str, Any]) -> Progress:
    """Reads a stage event; ignores fields that a newer service may add.

    >>> _read_progress({"stage": "plan", "mood": "good"}).stage
    'plan'
    """
    return Progress(**{key: value for key, value in fields.items() if key in _PROGRESS_FIELDS})


@contextmanager
def _told_when_gone(url: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise Unavailable(
            f"No service answers at {url} ({type(error).__name__}).",
            hint="Start one with `quorumsql serve`, or ask with --in-process.",
        ) from error


def _read_json(response: httpx.Response) -> dict[str, Any]:
    """The JSON of a successful response. Raises the error of a problem document."""
    if response.is_success:
        answer: dict[str, Any] = response.json()
        return answer
    raise _translate(response)


def read_query(response: httpx.Response) -> QueryResponse:
    """The answer in the response to ``POST /query``. Raises the error of a problem document."""
    return _read_query(_read_json(response))


def _read_query(body: Any) -> QueryResponse:
    try:
        return read_response(body)
    except ValidationError as error:
        raise QuorumError(
            "The response is not one of a service of this version.",
            hint="Check the address, and install the same version of client and service.",
        ) from error


def _read_problem(response: httpx.Response) -> dict[str, Any]:
    """The problem document; empty if the response contains none."""
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) and "detail" in problem else {}


def _translate(response: httpx.Response) -> QuorumError:
    problem = _read_problem(response)
    detail, errors = str(problem.get("detail", "")), problem.get("errors", ())
    if not problem:
        return QuorumError(f"The service answered {response.status_code}: {response.text[:200]}")
    if response.status_code == 401:
        return Unauthenticated(detail, hint="On the command line: `--as NAME`.")
    if response.status_code == 503:
        return Unavailable(detail)
    if errors:
        return InvalidRequest(detail, field=errors[0]["field"])
    return QuorumError(detail)
