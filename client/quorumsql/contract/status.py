"""The state of the service, as ``/readyz`` and ``quorumsql status`` show it."""

from __future__ import annotations

from pydantic import Field

from quorumsql.contract.model import ResponseModel, Text


class StatusResponse(ResponseModel):
    """Whether questions can be answered, and by which model."""

    ready: bool
    parts: dict[str, Text] = Field(description="Part → `ok`, or its problem.")
    model: Text = Field(description="The name of the language model.")
    preparing: Text = Field(
        "",
        description="The database whose prompts the idle model reads in advance; empty if it reads "
        "none.",
    )
