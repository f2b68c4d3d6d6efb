"""Limits of what a principal may use: the sections ``identity.limits`` and ``….limits``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section
from nl2sql.types import UsageLimits


class UsageSettings(Section):
    """Limits for each principal; 0: no limit. What one principal's limits leave out is general."""

    requests_per_minute: int | None = Field(
        None, ge=0, description="HTTP requests of a principal in a minute, over all replicas."
    )
    questions_at_once: int | None = Field(
        None, ge=0, description="Questions of a principal that are answered at a time."
    )
    tokens_per_day: int | None = Field(
        None,
        ge=0,
        description="Tokens of the language model, prompts and completions, that a principal may "
        "use on a day (UTC). Questions in progress are finished.",
    )
    rows_per_day: int | None = Field(
        None, ge=0, description="Rows that a principal may receive on a day (UTC)."
    )

    def build_limits(self) -> UsageLimits:
        """The limits as a value."""
        return UsageLimits(**self.model_dump())
