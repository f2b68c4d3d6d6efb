"""The settings of stage 7."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nl2sql.settings.section import Section


class RepairSettings(Section):
    """When a failed candidate is repaired, and how often."""

    when: Literal["no_quorum", "always"] = Field(
        "no_quorum",
        description="Repair where the vote has no quorum, or every failed candidate.",
    )
    rounds: int = Field(
        3, ge=0, le=10, description="Most attempts at one candidate, each at what the last left."
    )
