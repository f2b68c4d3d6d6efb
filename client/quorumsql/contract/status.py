"""The state of the service, as ``/readyz`` and ``quorumsql status`` show it."""

from __future__ import annotations

from pydantic import Field

from quorumsql.contract.model import ResponseModel, Text
from quorumsql.contract.trace import PaceResponse


class StatusResponse(ResponseModel):
    """Whether questions can be answered, and how fast the model is."""

    ready: bool
    parts: dict[str, Text] = Field(description="Part → `ok`, or its problem.")
    pace: PaceResponse | None
    preparing: Text = Field(
        "",
        description="The database whose prompts the idle model reads in advance; empty if it reads "
        "none.",
    )
