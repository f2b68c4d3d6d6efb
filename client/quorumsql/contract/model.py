"""The base of all response models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, SkipValidation

Text = SkipValidation[str]
"""Text that is not validated: it may hold a lone surrogate, which pydantic refuses."""

Rows = SkipValidation[list[list[Any]]]
"""Rows of JSON values that are not validated one by one."""


class ResponseModel(BaseModel):
    """Every key is always present. Older clients ignore keys that a later version adds."""

    model_config = ConfigDict(frozen=True, extra="ignore")
