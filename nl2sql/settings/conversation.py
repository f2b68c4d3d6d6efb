"""The sections ``sessions`` and ``answer``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nl2sql.settings.section import Section


class SessionSettings(Section):
    """Conversations: follow-up questions are completed from earlier turns of the session."""

    history_days: int = Field(
        90,
        ge=0,
        le=36_500,
        description="Conversations are listed for their principal for this many days after their "
        "latest question, starred ones without an end; 0: none are kept.",
    )


class AnswerSettings(Section):
    """Answers in words."""

    text: Literal["off", "rule", "model"] = Field(
        "rule",
        description="What words an answer when the request does not say: nothing; a rule, which "
        "says little; or the model, whose text is checked against the rows.",
    )
