"""The state of the service in detail, as ``GET /status`` shows it to operators."""

from __future__ import annotations

from pydantic import Field

from quorumsql.contract.model import ResponseModel, Text
from quorumsql.contract.status import StatusResponse


class DeploymentResponse(ResponseModel):
    """A deployment on Ray Serve."""

    name: Text
    replicas: int = Field(description="Those that run.")
    state: Text = Field(description="Ray's word for it, such as `HEALTHY` or `UPDATING`.")


class IndexStateResponse(ResponseModel):
    """The index of a database."""

    database: Text
    built_at: Text
    age_s: float
    tables: int


class PolicyStateResponse(ResponseModel):
    """The policy of a database."""

    database: Text
    file: Text = Field(description="The file's name; empty: no policy, everything is visible.")
    revision: Text = Field(description="The beginning of the file's SHA-256, when it was loaded.")


class OutcomeResponse(ResponseModel):
    """How many questions ended without an answer, for one reason."""

    outcome: Text
    code: Text = Field(description="The code of a refusal, or the class of an error.")
    count: int


class TodayResponse(ResponseModel):
    """What was used on this day (UTC)."""

    questions: int
    tokens: int = Field(description="Of the language model, prompts and completions.")
    rows: int = Field(description="Rows in answers.")


class ServiceStatusResponse(StatusResponse):
    """``figures``, ``errors`` and ``today`` are of the process that answers, since it started."""

    deployments: list[DeploymentResponse] = Field(description="Empty where Ray is not used.")
    index: list[IndexStateResponse] = Field(description="Empty if the index does not answer.")
    policy: list[PolicyStateResponse]
    errors: list[OutcomeResponse]
    today: TodayResponse
