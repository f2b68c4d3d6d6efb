"""What surrounds the query: the gate before it, the session around it, the words after it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from nl2sql.settings.section import Section


class GateSettings(Section):
    """When a question is refused as not about the database; flags.intent_gate is the switch."""

    refuse_below: float = Field(
        0.18,
        ge=-1,
        le=1,
        description="Below this cosine of the nearest table a question is refused, unless it "
        "names a cell value, or more of its words than refuse_words stand in the schema.",
    )
    refuse_words: float = Field(
        0.5,
        ge=0,
        le=1,
        description="The share of a question's words in the names and comments of the tables "
        "found, up to which refuse_below refuses.",
    )
    pass_above: float = Field(
        0.3,
        ge=-1,
        le=1,
        description="From this cosine on a question passes at once; in between the model decides, "
        "where gate.model is auto.",
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
    """Conversations: earlier turns of a session make a follow-up a whole question."""

    turns: int = Field(5, ge=1, le=50, description="Turns of a session that are kept and read.")
    keep_hours: int = Field(24, ge=1, le=8760, description="A turn older than this is forgotten.")


class AnswerSettings(Section):
    """Answers in words; flags.answer_text is the switch."""

    text: Literal["off", "rule", "model"] = Field(
        "rule",
        description="Who words an answer when the request does not say: nobody; a rule, which "
        "says little; or the model, with what it says checked against the rows.",
    )
    model_rows: int = Field(20, ge=1, le=200, description="Most rows that the model is shown.")
    model_chars: int = Field(
        4000, ge=200, le=50_000, description="Most characters of rows that the model is shown."
    )
    max_tokens: int = Field(96, ge=16, le=1024, description="Longest text of the model.")
