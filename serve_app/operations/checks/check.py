"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check; ``status`` is ``ok``, ``warning`` or ``failed``."""

    name: str
    status: str
    message: str
    remedy: str = ""
