"""How candidates are drawn: the section ``sampling``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from nl2sql.settings.prompt_variants import parse_variant
from nl2sql.settings.section import Section


class SamplingSettings(Section):
    """How candidates are drawn."""

    k: int = Field(
        4,
        ge=0,
        le=64,
        description="Candidates if the request names no k; 0: as many as the question needs.",
    )
    max_k: int = Field(32, ge=1, le=64, description="Most candidates that a request may ask for.")
    k_easy: int = Field(
        2, ge=1, le=64, description="With k=0: candidates in the first round of an easy question."
    )
    k_default: int = Field(
        4, ge=1, le=64, description="With k=0: candidates in the first round of most questions."
    )
    k_hard: int = Field(
        6, ge=1, le=64, description="With k=0: candidates in the first round of a hard question."
    )
    k_max: int = Field(
        8, ge=1, le=64, description="With k=0: most candidates in all rounds together."
    )
    variants: tuple[str, ...] | None = Field(
        None,
        min_length=1,
        max_length=16,
        description="Prompt variants among which the candidates are divided, such as "
        "m_schema+plan; standard: as these settings say. Unset: standard, and from 8 candidates "
        "on narrow for every second one.",
    )
    greedy_first: bool = Field(
        False, description="With more than one candidate, the first is sampled greedily."
    )
    schema_form: Literal["ddl", "m_schema"] = Field(
        "ddl", description="How the schema is written for the model."
    )
    temperature: float = Field(
        0.7, ge=0, le=2, description="For k > 1; a single candidate is sampled greedily."
    )
    show_plan: bool = Field(
        False,
        description="Show linked columns and the join skeleton to the model. Off, because on the "
        "demo the 0.5B model joined whatever it was shown.",
    )
    max_tokens: int = Field(
        320, ge=16, le=4096, description="Longest answer of the model, in tokens."
    )
    seed: int = Field(0, ge=0, description="Seed if the request has none.")

    @field_validator("variants")
    @classmethod
    def _variants_are_known(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        for name in names:
            parse_variant(name)
        if len(set(names)) < len(names):
            raise ValueError("a variant is listed twice")
        return names

    @model_validator(mode="after")
    def _rounds_fit(self) -> SamplingSettings:
        if not self.k_easy <= self.k_default <= self.k_hard <= self.k_max:
            raise ValueError("k_easy, k_default, k_hard and k_max must be in ascending order")
        return self
