"""Who sends a request, how urgent it is, and how new its answer must be, for the routes."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Header, Request

from nl2sql.errors import Unauthenticated
from nl2sql.types import Principal


def read_principal(request: Request) -> Principal:
    """The principal whom ``Identification`` left in the state. Raises Unauthenticated."""
    principal: Principal | None = request.state.principal
    if principal is None:
        # Only where the front was left out: it sets a principal or answers 401.
        raise Unauthenticated("The request was not identified.")
    return principal


Caller = Annotated[Principal, Depends(read_principal)]


Priority = Annotated[
    Literal["people", "batch"],
    Header(
        alias="QuorumSQL-Priority",
        description="`batch` for a question that nobody waits for: it is answered after those of "
        "people, and by half of the service at most.",
    ),
]

LastEventId = Annotated[
    str, Header(description="The number of the last event that was received; else all are sent.")
]
