"""How candidates are drawn: the section ``sampling``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from nl2sql.settings.section import Section

Variant = Literal["standard", "narrow"]
"""Which tables the prompt shows: all that were found, or those that the question names."""


MOST_ADAPTIVE_K = 8
"""With k=0: most candidates in all rounds together."""


class SamplingSettings(Section):
    """How candidates are drawn."""

    k: int = Field(
        8,
        ge=0,
        le=64,
        description="Candidates if the request names no k; 0: as many as the question needs.",
    )
    max_k: int = Field(32, ge=1, le=64, description="Most candidates that a request may ask for.")
    variants: tuple[Variant, ...] | None = Field(
        None,
        min_length=1,
        description="Prompts among which the candidates are divided: standard, and narrow with "
        "only the tables that the question names or that join them. Unset: standard, and from 8 "
        "candidates on narrow for every second one.",
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
