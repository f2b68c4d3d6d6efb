"""The sections ``gate``, ``sessions`` and ``answer``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from nl2sql.settings.section import Section


class GateSettings(Section):
    """When a question is refused as not about the database; flags.intent_gate switches it."""

    refuse_below: float = Field(
        0.18,
        ge=-1,
        le=1,
        description="A question is refused if the cosine of the nearest table is below this, "
        "unless it names a cell value, or the schema has more of its words than refuse_words.",
    )
    refuse_words: float = Field(
        0.5,
        ge=0,
        le=1,
        description="refuse_below applies up to this share of the question's words in the names "
        "and comments of the tables found.",
    )
    pass_above: float = Field(
        0.3,
        ge=-1,
        le=1,
        description="From this cosine on a question passes at once; in between, the model decides "
        "if gate.model is auto.",
    )
    model: Literal["auto", "off"] = Field(
        "off", description="Ask the model about doubtful questions, or let them pass."
    )

    @model_validator(mode="after")
    def _doubt_lies_between(self) -> GateSettings:
        if self.pass_above < self.refuse_below:
            raise ValueError("pass_above must not be below refuse_below")
        return self


class SessionSettings(Section):
    """Conversations: follow-up questions are completed from earlier turns of the session."""

    turns: int = Field(5, ge=1, le=50, description="Turns of a session that are kept and read.")
    keep_hours: int = Field(24, ge=1, le=8760, description="Older turns are deleted.")
    history_days: int = Field(
        90,
        ge=0,
        le=36_500,
        description="Conversations are listed for their principal for this many days after their "
        "latest question, starred ones without an end; 0: none are kept.",
    )


class AnswerSettings(Section):
    """Answers in words; flags.answer_text switches them."""

    text: Literal["off", "rule", "model"] = Field(
        "rule",
        description="What words an answer when the request does not say: nothing; a rule, which "
        "says little; or the model, whose text is checked against the rows.",
    )
