"""Asks a running service over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from nl2sql.errors import InvalidRequest, QuorumError, Unauthenticated, Unavailable


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
    url: str, body: dict[str, Any], *, token: str = "", timeout_s: float = 180
) -> dict[str, Any]:
    """The answer to ``POST /query``, with a bearer ``token`` where the service asks for one.

    Raises Unavailable, Unauthenticated, InvalidRequest or QuorumError.
    """
    return read_answer(_post(f"{url}/query", body, {}, token=token, timeout_s=timeout_s))


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
    url: str, body: dict[str, Any], media_type: str, *, token: str = "", timeout_s: float = 180
) -> Export | NoRows:
    """The rows of the answer to ``POST /query`` as ``media_type``. Raises as ``post_query``."""
    headers = {"Accept": media_type}
    response = _post(f"{url}/query", body, headers, token=token, timeout_s=timeout_s)
    if response.is_success:
        return Export(response.content, response.headers)
    problem = _read_problem(response)
    if "outcome" in problem:
        return NoRows(problem["outcome"], str(problem["detail"]))
    raise _translate(response)


def _post(
    url: str, body: dict[str, Any], headers: Mapping[str, str], *, token: str, timeout_s: float
) -> httpx.Response:
    return _send("POST", url, body, headers, token=token, timeout_s=timeout_s)


def _send(
    method: str,
    url: str,
    body: dict[str, Any] | None,
    headers: Mapping[str, str],
    *,
    token: str,
    timeout_s: float,
) -> httpx.Response:
    identity = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        return httpx.request(
            method, url, json=body, headers={**headers, **identity}, timeout=timeout_s
        )
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
