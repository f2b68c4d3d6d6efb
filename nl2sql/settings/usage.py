"""Limits of what a principal may use: the sections ``identity.limits`` and ``….limits``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section
from nl2sql.types import UsageLimits


class UsageSettings(Section):
    """Limits for each principal; 0: no limit."""

    requests_per_minute: int = Field(
        0, ge=0, description="HTTP requests of a principal in a minute, over all replicas; 0: any."
    )
    questions_at_once: int = Field(
        0, ge=0, description="Questions of a principal that are answered at a time; 0: any."
    )
    tokens_per_day: int = Field(
        0,
        ge=0,
        description="Tokens of the language model, prompts and completions, that a principal may "
        "use on a day (UTC); 0: any. Questions in progress are finished.",
    )
    rows_per_day: int = Field(
        0, ge=0, description="Rows that a principal may receive on a day (UTC); 0: any."
    )

    def build_limits(self) -> UsageLimits:
        """The limits as a value."""
        return UsageLimits(**self.model_dump())


class OwnUsageSettings(Section):
    """Limits of one principal in place of ``identity.limits``."""

    requests_per_minute: int | None = Field(
        None, ge=0, description="In place of identity.limits.requests_per_minute."
    )
    questions_at_once: int | None = Field(
        None, ge=0, description="In place of identity.limits.questions_at_once."
    )
    tokens_per_day: int | None = Field(
        None, ge=0, description="In place of identity.limits.tokens_per_day."
    )
    rows_per_day: int | None = Field(
        None, ge=0, description="In place of identity.limits.rows_per_day."
    )

    def build_limits(self) -> UsageLimits:
        """The limits as a value."""
        return UsageLimits(**self.model_dump())
