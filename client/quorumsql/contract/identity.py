"""Who asks, what this principal may do and see, and whether the service can answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quorumsql.contract.model import ResponseModel, Text


class LimitResponse(ResponseModel):
    """A limit of the principal, and what of it is used."""

    name: Literal["requests_per_minute", "questions_at_once", "tokens_per_day", "rows_per_day"]
    most: int
    used: int
    resets_in_s: float | None = Field(
        description="Null where the count does not restart by itself."
    )


class RightsResponse(ResponseModel):
    """What the principal may do besides asking."""

    review: bool = Field(description="Work through answers that were said to be wrong.")


class HiddenResponse(ResponseModel):
    """What a policy hides in a table of which the principal sees some."""

    database: Text
    table: Text
    rows: Text = Field(
        description="The condition that shown rows meet, as SQL; empty: it may not be read, or "
        "all rows are shown."
    )
    some_rows: bool = Field(description="Whether only some rows are shown.")
    columns: list[Text] = Field(description="Columns that show NULL or a hash in some rows.")


class PrincipalResponse(ResponseModel):
    """Who asks, and what this principal may do and see."""

    name: Text
    roles: list[Text]
    databases: list[Text]
    sign_in: Literal["none", "token", "cookie"] = Field(
        description="By what this request was identified; `none`: the service needs no token."
    )
    rights: RightsResponse
    max_rows: int = Field(description="The most rows that a request may ask for.")
    limits: list[LimitResponse] = Field(description="Only those that are set.")
    hidden: list[HiddenResponse] = Field(
        description="At most 200 tables of each database. Hidden tables are not listed."
    )


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
