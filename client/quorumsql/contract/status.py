"""The state of the service, as ``/readyz`` and ``quorumsql status`` show it."""

from __future__ import annotations

from pydantic import Field

from quorumsql.contract.model import ResponseModel, Text
from quorumsql.contract.trace import PaceResponse


class DurationResponse(ResponseModel):
    """How long the latest questions took, in milliseconds; null without questions."""

    questions: int = Field(description="How many were measured: at most the latest 100 answers.")
    p50_ms: float | None
    p95_ms: float | None


class FiguresResponse(ResponseModel):
    """The load and the questions of the process that answers, since it started."""

    uptime_s: float
    waiting: int = Field(description="Requests that wait for their turn.")
    ongoing: int = Field(description="Requests that are being answered.")
    questions: dict[str, int] = Field(description="Outcome → questions.")
    duration: DurationResponse


class StatusResponse(ResponseModel):
    """Whether questions can be answered, and how the service does."""

    ready: bool
    parts: dict[str, Text] = Field(description="Part → `ok`, or its problem.")
    pace: PaceResponse | None
    figures: FiguresResponse
