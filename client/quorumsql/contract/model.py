"""What all models of an answer have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, SkipValidation

Text = SkipValidation[str]
"""A text from anywhere. It may hold half a character (a lone surrogate), which pydantic refuses."""

Rows = SkipValidation[list[list[Any]]]
"""Rows of JSON values, which are not looked at one by one."""


class ResponseModel(BaseModel):
    """Every key is always there. Keys that a later version adds are ignored by an older client."""

    model_config = ConfigDict(frozen=True, extra="ignore")
