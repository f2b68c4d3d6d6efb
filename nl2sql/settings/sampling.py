"""How candidates are drawn: the section ``sampling``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nl2sql.settings.section import Section

Variant = Literal["standard", "narrow"]
"""Which tables the prompt shows: all that were found, or those that the question names."""

MOST_K = 32
"""Most candidates that a request may ask for."""

MOST_ADAPTIVE_K = 8
"""With k=0: most candidates in all rounds together."""


class SamplingSettings(Section):
    """How candidates are drawn."""

    k: int = Field(
        8,
        ge=0,
        le=MOST_K,
        description="Candidates if the request names no k; 0: as many as the question needs.",
    )
    temperature: float = Field(
        0.7, ge=0, le=2, description="For k > 1; a single candidate is sampled greedily."
    )
    max_tokens: int = Field(
        320, ge=16, le=4096, description="Longest answer of the model, in tokens."
    )
