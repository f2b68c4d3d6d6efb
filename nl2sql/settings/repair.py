"""Repaired and derived candidates: the section ``repair``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nl2sql.settings.section import Section


class RepairSettings(Section):
    """When a failed candidate is repaired, and how often; how many candidates are derived."""

    when: Literal["no_quorum", "always"] = Field(
        "no_quorum",
        description="Repair failed candidates only if the vote has no quorum, or always.",
    )
    derived: int = Field(
        8,
        ge=0,
        le=64,
        description="Most candidates that are derived from those that run, by rule and without the "
        "model; 0: none.",
    )
    rounds: int = Field(3, ge=0, le=10, description="Most successive repairs of one candidate.")
