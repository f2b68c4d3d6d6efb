"""When and how often failed candidates are repaired: the section ``repair``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nl2sql.settings.section import Section


class RepairSettings(Section):
    """When a failed candidate is repaired, and how often."""

    when: Literal["no_quorum", "always"] = Field(
        "no_quorum",
        description="Repair failed candidates only if the vote has no quorum, or always.",
    )
    rounds: int = Field(3, ge=0, le=10, description="Most successive repairs of one candidate.")
