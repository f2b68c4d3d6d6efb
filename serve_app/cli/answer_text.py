"""Who puts answers in words, as options of the command line name them."""

from __future__ import annotations

from enum import StrEnum


class AnswerTextSource(StrEnum):
    """Nobody; a rule, which says little; or the model, checked against the rows."""

    OFF = "off"
    RULE = "rule"
    MODEL = "model"
