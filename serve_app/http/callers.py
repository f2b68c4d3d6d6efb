"""Who sends a request, for the routes: what ``Identification`` left in its state."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from nl2sql.types import Principal


def read_principal(request: Request) -> Principal:
    """The principal of the request."""
    principal: Principal = request.state.principal
    return principal


Caller = Annotated[Principal, Depends(read_principal)]
