"""Derived candidates: the section ``repair``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section


class RepairSettings(Section):
    """How many candidates are derived."""

    derived: int = Field(
        8,
        ge=0,
        le=64,
        description="Most candidates that are derived from those that run, by rule and without the "
        "model; 0: none.",
    )
