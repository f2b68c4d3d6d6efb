"""Asks a running service over HTTP.

A question is waited for as long as the service says that it is at work on it, however slow that is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from nl2sql.errors import InvalidRequest, QuorumError, Unauthenticated, Unavailable

_EVENT_STREAM = "text/event-stream"
_CONNECT_S = 10.0
# The service says something every few seconds.
_SILENCE_S = 120.0


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


def post_query(
    url: str,
    body: dict[str, Any],
    *,
    token: str = "",
    show: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any]:
    """The answer to ``POST /query``, with a bearer ``token`` where the service asks for one.

    ``show`` is handed how far it is: the fields of ``Progress``. Raises Unavailable,
    Unauthenticated, InvalidRequest or QuorumError.
    """
    headers = {"Accept": f"{_EVENT_STREAM}, application/json;q=0.5", **_build_identity(token)}
    timeout = httpx.Timeout(_SILENCE_S, connect=_CONNECT_S)
    with (
        _told_when_gone(url),
        httpx.stream("POST", f"{url}/query", json=body, headers=headers, timeout=timeout) as found,
    ):
        if not found.headers.get("content-type", "").startswith(_EVENT_STREAM):
            found.read()
            return read_answer(found)
        for name, data in _read_events(found.iter_bytes()):
            if name == "answer":
                answer: dict[str, Any] = json.loads(data)
                return answer
            if name == "problem":
                problem = json.loads(data)
                raise _translate(httpx.Response(problem["status"], content=data))
            show(json.loads(data))
    raise Unavailable(f"The service at {url} ended the connection.", hint="Ask again.")


def _read_events(pieces: Iterator[bytes]) -> Iterator[tuple[str, bytes]]:
    """(name, data) of each event; those of ours have one line of data.

    >>> list(_read_events(iter([b": still at work\\n\\nevent: sta", b"ge\\ndata: {}\\n\\n"])))
    [('stage', b'{}')]
    """
    name, rest = "", b""
    for piece in pieces:
        # Not as text is split: JSON may hold other line ends, such as U+2028.
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            field, _, value = line.partition(b": ")
            if field == b"event":
                name = value.decode()
            elif field == b"data":
                yield name, value


def delete_session(
    url: str, session: str, *, token: str = "", timeout_s: float = 60
) -> dict[str, Any]:
    """What came of ``DELETE /sessions/{session}``. Raises as ``post_query``."""
    where = f"{url}/sessions/{session}"
    return read_answer(_send("DELETE", where, None, {}, token=token, timeout_s=timeout_s))


def post_feedback(
    url: str, body: dict[str, Any], *, token: str = "", timeout_s: float = 60
) -> dict[str, Any]:
    """What came of ``POST /feedback``. Raises as ``post_query``."""
    return read_answer(_post(f"{url}/feedback", body, {}, token=token, timeout_s=timeout_s))


def post_export(
    url: str, body: dict[str, Any], media_type: str, *, token: str = ""
) -> Export | NoRows:
    """The rows of the answer to ``POST /query`` as ``media_type``, whenever it comes.

    Nothing tells how far it is. Raises as ``post_query``.
    """
    headers = {"Accept": media_type}
    response = _post(f"{url}/query", body, headers, token=token, timeout_s=None)
    if response.is_success:
        return Export(response.content, response.headers)
    problem = _read_problem(response)
    if "outcome" in problem:
        return NoRows(problem["outcome"], str(problem["detail"]))
    raise _translate(response)


def _post(
    url: str,
    body: dict[str, Any],
    headers: Mapping[str, str],
    *,
    token: str,
    timeout_s: float | None,
) -> httpx.Response:
    return _send("POST", url, body, headers, token=token, timeout_s=timeout_s)


def _send(
    method: str,
    url: str,
    body: dict[str, Any] | None,
    headers: Mapping[str, str],
    *,
    token: str,
    timeout_s: float | None,
) -> httpx.Response:
    timeout = httpx.Timeout(timeout_s, connect=_CONNECT_S)
    with _told_when_gone(url):
        return httpx.request(
            method, url, json=body, headers={**headers, **_build_identity(token)}, timeout=timeout
        )


def _build_identity(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


@contextmanager
def _told_when_gone(url: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise Unavailable(
            f"No service answers at {url} ({type(error).__name__}).",
            hint="Start one with `quorumsql serve`, or ask with --in-process.",
        ) from error


def read_answer(response: httpx.Response) -> dict[str, Any]:
    """The JSON in a response that is no problem. Raises what the problem document says."""
    if response.is_success:
        answer: dict[str, Any] = response.json()
        return answer
    raise _translate(response)


def _read_problem(response: httpx.Response) -> dict[str, Any]:
    """The problem document, or nothing where the response holds none."""
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
