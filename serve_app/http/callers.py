"""Who sends a request, for the routes: what ``Identification`` left in its state."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from nl2sql.errors import Unauthenticated
from nl2sql.types import Principal


def read_principal(request: Request) -> Principal:
    """The principal of the request. Raises Unauthenticated."""
    principal: Principal | None = request.state.principal
    if principal is None:
        # Only where the front was left out: it sets a principal or answers 401.
        raise Unauthenticated("The request was not identified.")
    return principal


Caller = Annotated[Principal, Depends(read_principal)]
