"""Prompt variants by name, as the settings list them.

Different prompts lead to different mistakes, so a vote over several prompts is wrong less often
than one over as many samples of one prompt. A name is made of parts: ``m_schema+plan``,
``order2+t1.0``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

# The variant that changes nothing of the sampling settings.
STANDARD = "standard"
# What the settings leave open is divided among these, if each has so many candidates: two prompts
# are better than one from eight candidates on, and no better with four.
DEFAULT_VARIANTS = (STANDARD, "narrow")
FEWEST_EACH = 4

_PARTS: dict[str, dict[str, Any]] = {
    STANDARD: {},
    "ddl": {"schema_form": "ddl"},
    "m_schema": {"schema_form": "m_schema"},
    "plan": {"show_plan": True},
    "no_plan": {"show_plan": False},
    "no_examples": {"show_examples": False},
    "worked": {"worked": True},
    "narrow": {"narrow": True},
}
_ORDER = re.compile(r"order([1-9]\d{0,3})")
_TEMPERATURE = re.compile(r"t([01]\.\d{1,2}|2\.0)")


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """One way to ask for the same query. None means: as the sampling settings say.

    ``order`` 0 writes the tables in name order, any other number is the seed of a shuffle.
    ``worked`` puts packaged examples on another schema before the question. ``narrow`` shows only
    the tables that the question names or that join them.
    """

    name: str = STANDARD
    schema_form: Literal["ddl", "m_schema"] | None = None
    show_plan: bool | None = None
    show_examples: bool = True
    worked: bool = False
    narrow: bool = False
    order: int = 0
    temperature: float | None = None


def parse_variant(name: str) -> PromptVariant:
    """The variant of that name. Raises ValueError naming an unknown part.

    >>> parse_variant("m_schema+plan+t0.9").temperature
    0.9
    """
    variant = PromptVariant(name)
    for part in name.split("+"):
        if match := _ORDER.fullmatch(part):
            variant = replace(variant, order=int(match[1]))
        elif match := _TEMPERATURE.fullmatch(part):
            variant = replace(variant, temperature=float(match[1]))
        elif part in _PARTS:
            variant = replace(variant, **_PARTS[part])
        else:
            raise ValueError(
                f"{part!r} is no part of a prompt variant; there are {', '.join(_PARTS)}, order1, "
                "order2 and so on, and a temperature such as t0.9"
            )
    return variant
