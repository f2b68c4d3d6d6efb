"""The base of all response models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, SkipValidation

Text = SkipValidation[str]
"""Text that is not validated: it may hold a lone surrogate, which pydantic refuses."""

Rows = SkipValidation[list[list[Any]]]
"""Rows of JSON values that are not validated one by one."""

PREDICATES = (
    "The row filters that the policy added, as `table: condition` with the reader's own values; "
    "the table alone where the condition is not shown."
)


class ResponseModel(BaseModel):
    """Every key is always present. Older clients ignore keys that a later version adds."""

    model_config = ConfigDict(frozen=True, extra="ignore")
