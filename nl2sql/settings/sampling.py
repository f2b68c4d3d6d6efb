"""How candidates are drawn: the section ``sampling``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from nl2sql.settings.section import Section

Variant = Literal["standard", "narrow"]
"""Which tables the prompt shows: all that were found, or those that the question names."""


class SamplingSettings(Section):
    """How candidates are drawn."""

    k: int = Field(
        8,
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
    variants: tuple[Variant, ...] | None = Field(
        None,
        min_length=1,
        description="Prompts among which the candidates are divided: standard, and narrow with "
        "only the tables that the question names or that join them. Unset: standard, and from 8 "
        "candidates on narrow for every second one.",
    )
    greedy_first: bool = Field(
        False, description="With more than one candidate, the first is sampled greedily."
    )
    temperature: float = Field(
        0.7, ge=0, le=2, description="For k > 1; a single candidate is sampled greedily."
    )
    max_tokens: int = Field(
        320, ge=16, le=4096, description="Longest answer of the model, in tokens."
    )
    seed: int = Field(0, ge=0, description="Seed if the request has none.")

    @field_validator("variants")
    @classmethod
    def _variants_differ(cls, names: tuple[Variant, ...] | None) -> tuple[Variant, ...] | None:
        if names is not None and len(set(names)) < len(names):
            raise ValueError("a variant is listed twice")
        return names

    @model_validator(mode="after")
    def _rounds_fit(self) -> SamplingSettings:
        if not self.k_easy <= self.k_default <= self.k_hard <= self.k_max:
            raise ValueError("k_easy, k_default, k_hard and k_max must be in ascending order")
        return self
