"""Asks a running service over HTTP."""

from __future__ import annotations

from typing import Any

import httpx

from nl2sql.errors import InvalidRequest, QuorumError, Unauthenticated, Unavailable


def post_query(
    url: str, body: dict[str, Any], *, token: str = "", timeout_s: float = 180
) -> dict[str, Any]:
    """The answer to ``POST /query``, with a bearer ``token`` where the service asks for one.

    Raises Unavailable, Unauthenticated, InvalidRequest or QuorumError.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        response = httpx.post(f"{url}/query", json=body, headers=headers, timeout=timeout_s)
    except httpx.HTTPError as error:
        raise Unavailable(
            f"No service answers at {url} ({type(error).__name__}).",
            hint="Start one with `quorumsql serve`, or ask with --in-process.",
        ) from error
    return read_answer(response)


def read_answer(response: httpx.Response) -> dict[str, Any]:
    """The answer in a response of ``POST /query``. Raises what the problem document says."""
    if response.is_success:
        answer: dict[str, Any] = response.json()
        return answer
    raise _translate(response)


def _translate(response: httpx.Response) -> QuorumError:
    try:
        problem = response.json()
        detail, errors = str(problem["detail"]), problem.get("errors", ())
    except (ValueError, KeyError, TypeError):
        return QuorumError(f"The service answered {response.status_code}: {response.text[:200]}")
    if response.status_code == 401:
        return Unauthenticated(detail, hint="On the command line: `--as NAME`.")
    if response.status_code == 503:
        return Unavailable(detail)
    if errors:
        return InvalidRequest(detail, field=errors[0]["field"])
    return QuorumError(detail)
