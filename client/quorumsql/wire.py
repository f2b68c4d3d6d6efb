"""What both clients share: requests as HTTP, responses and events back.

Knows the paths of the service and nothing of how bytes travel.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from quorumsql.contract.answers import read_response
from quorumsql.contract.events import AnswerEvent, Event, read_event
from quorumsql.contract.identity import StatusResponse
from quorumsql.contract.requests import QueryRequest
from quorumsql.errors import (
    Busy,
    DeadlineExceeded,
    Forbidden,
    InvalidRequest,
    LimitReached,
    QuorumError,
    Unauthenticated,
    Unavailable,
)

# The title of a problem document: too many requests at a time.
BUSY = "Busy"

_CONNECT_S = 10.0
# The service says something every few seconds.
STREAM_TIMEOUT = httpx.Timeout(120.0, connect=_CONNECT_S)
# For requests that need no model.
SHORT_TIMEOUT = httpx.Timeout(60.0, connect=_CONNECT_S)
# An answer is waited for as long as the service works on it.
ENDLESS_TIMEOUT = httpx.Timeout(None, connect=_CONNECT_S)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Export:
    """An answer's rows in the format asked for, and the headers that say what goes with them."""

    content: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NoRows:
    """An answer without rows: its ``outcome`` and the reason."""

    outcome: str
    reason: str


def build_question(question: str | QueryRequest, options: dict[str, Any]) -> dict[str, Any]:
    """The body that asks a question with options. Raises InvalidRequest."""
    given = dict(question) if isinstance(question, QueryRequest) else {"question": question}
    return build_body(QueryRequest, **{**given, **options})


def build_body(model: type[BaseModel], **fields: Any) -> dict[str, Any]:
    """The body of a request. Raises InvalidRequest for an unknown field or a wrong value."""
    try:
        return model(**fields).model_dump()
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "request"
        raise InvalidRequest(f"{name}: {first['msg']}.", field=name) from error


@dataclass(slots=True)
class EventReader:
    """Server-sent events out of the bytes of a stream, as they come.

    Raises what a ``problem`` event says, QuorumError for what is no stream of this service.
    """

    url: str
    _rest: list[bytes] = field(default_factory=list)
    _kind: str = ""
    _is_complete: bool = False

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that end in this piece.

        >>> reader = EventReader("http://localhost")
        >>> list(reader.feed(b': still at work\\n\\nevent: sta'))
        []
        >>> [event.stage for event in reader.feed(b'ge\\ndata: {"stage": "plan"}\\n\\n')]
        ['plan']
        """
        self._rest.append(piece)
        if b"\n" not in piece:  # a line of many pieces is joined once
            return
        # Not as text is split: JSON may hold other line ends, such as U+2028.
        *lines, rest = b"".join(self._rest).split(b"\n")
        self._rest = [rest]
        for line in lines:
            name, _, value = line.partition(b": ")
            if name == b"event":
                self._kind = value.decode()
            elif name == b"data" and (event := self._read(value)) is not None:
                yield event

    def end(self) -> None:
        """Raises Unavailable where the stream ended before its answer."""
        if not self._is_complete:
            raise Unavailable(f"The service at {self.url} ended the connection.", hint="Ask again.")

    def _read(self, data: bytes) -> Event | None:
        self._is_complete |= self._kind in ("answer", "problem")
        if self._kind == "answer":
            return AnswerEvent(answer=_build(read_response, data))
        if self._kind == "problem":
            response = httpx.Response(500, content=data)
            response.status_code = _read_problem(response).get("status", 500)
            raise translate(response)
        return _build(partial(read_event, self._kind), data)


def check(response: httpx.Response) -> None:
    """Raises what the problem document says, if the response is one."""
    if not response.is_success:
        raise translate(response)


def read(build: Callable[[Any], _T], response: httpx.Response) -> _T:
    """What ``build`` makes of the JSON in a response; it raises ValidationError for another one.

    Raises what the problem document says; QuorumError where ``build`` cannot read the document.
    """
    check(response)
    return _build(build, response.content)


def _build(build: Callable[[Any], _T], content: bytes) -> _T:
    try:
        return build(json.loads(content))
    except ValueError as error:
        raise QuorumError(
            "What answers there is no service of this version.",
            hint="Give the address of one, or bring client and service to one version.",
        ) from error


def read_export(response: httpx.Response) -> Export | NoRows:
    """The rows, or why there are none. Raises what the problem document says."""
    if response.is_success:
        return Export(response.content, response.headers)
    problem = _read_problem(response)
    if "outcome" in problem:
        return NoRows(problem["outcome"], str(problem["detail"]))
    raise translate(response)


def read_status(response: httpx.Response) -> StatusResponse:
    """The state of the service, which also comes with status 503.

    Raises Unauthenticated for the short state that requests without a known token receive.
    """
    try:
        body = response.json()
        if isinstance(body, dict) and body.keys() == {"ready"}:
            raise Unauthenticated(
                "The service shows its state only to principals with a token.",
                hint="On the command line: `--as NAME`.",
            )
        return StatusResponse.model_validate(body)
    except ValueError:
        raise translate(response) from None


def translate(response: httpx.Response) -> QuorumError:
    """The error that a response stands for."""
    problem = _read_problem(response)
    detail, errors = str(problem.get("detail", "")), problem.get("errors", ())
    if not problem:
        return QuorumError(f"The service answered {response.status_code}: {response.text[:200]}")
    match response.status_code:
        case 401:
            return Unauthenticated(detail, hint="On the command line: `--as NAME`.")
        case 403:
            return Forbidden(detail)
        case 429 | 503 as status:
            missing = Busy if problem.get("title") == BUSY else Unavailable
            kind = LimitReached if status == 429 else missing
            return kind(detail, retry_after_s=_read_retry_after(response))
        case 504:
            return DeadlineExceeded(detail)
    if errors:
        return InvalidRequest(detail, field=errors[0]["field"])
    return QuorumError(detail)


def _read_retry_after(response: httpx.Response) -> float:
    try:
        return float(response.headers["retry-after"])
    except (KeyError, ValueError):
        return 5.0


def _read_problem(response: httpx.Response) -> dict[str, Any]:
    """The problem document, or nothing where the response holds none."""
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) and "detail" in problem else {}
