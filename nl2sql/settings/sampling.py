"""How candidates are drawn: the section ``sampling`` of the settings."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from nl2sql.settings.prompt_variants import STANDARD, parse_variant
from nl2sql.settings.section import Section


class SamplingSettings(Section):
    """How candidates are drawn."""

    k: int = Field(
        4,
        ge=0,
        le=64,
        description="Candidates a question when it names none; 0: as many as the question needs.",
    )
    max_k: int = Field(32, ge=1, le=64, description="Most candidates that a request may ask for.")
    k_easy: int = Field(2, ge=1, le=64, description="With k=0: the first round of an easy one.")
    k_default: int = Field(4, ge=1, le=64, description="With k=0: the first round of most.")
    k_hard: int = Field(6, ge=1, le=64, description="With k=0: the first round of a hard one.")
    k_max: int = Field(
        8, ge=1, le=64, description="With k=0: rounds go on to so many while nothing is settled."
    )
    variants: tuple[str, ...] = Field(
        (STANDARD,),
        min_length=1,
        max_length=16,
        description="Prompts that the candidates are dealt over, such as m_schema+plan; "
        "standard: as the settings here say.",
    )
    greedy_first: bool = Field(
        False, description="With more than one candidate, the first is the model's likeliest."
    )
    schema_form: Literal["ddl", "m_schema"] = Field(
        "ddl", description="How the schema is written for the model."
    )
    temperature: float = Field(0.7, ge=0, le=2, description="For k > 1; one candidate is greedy.")
    show_plan: bool = Field(
        False,
        description="Show linked columns and the join skeleton to the model. Off: on the demo the "
        "0.5B model joined whatever it was shown.",
    )
    max_tokens: int = Field(320, ge=16, le=4096, description="Longest answer of the model.")
    seed: int = Field(0, ge=0, description="Seed when the request names none.")
    grammar: bool = Field(
        False,
        description="Hold the model to a grammar: one SELECT over the tables and columns shown. "
        "vLLM only, here or as a server.",
    )

    @field_validator("variants")
    @classmethod
    def _variants_are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            parse_variant(name)
        if len(set(names)) < len(names):
            raise ValueError("a variant stands here twice")
        return names

    @model_validator(mode="after")
    def _rounds_fit(self) -> SamplingSettings:
        if not self.k_easy <= self.k_default <= self.k_hard <= self.k_max:
            raise ValueError("k_easy, k_default, k_hard and k_max must not fall")
        return self
