"""The sections ``ranking`` and ``repair``: the vote, its confidence, derived candidates."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section


class RankingSettings(Section):
    """The vote and its confidence."""

    min_confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Below this confidence the outcome is clarify, and always at confidence 0; 0: "
        "every other answer is given. Unset: the threshold of the calibration, or 0.2 if the "
        "confidence is not calibrated.",
    )
    calibration: str = Field(
        "auto",
        description="How agreement becomes a confidence: auto, by the packaged calibration; none, "
        "by the lower end of the Wilson interval; or by a file that `quorumsql eval calibrate` "
        "wrote.",
    )

    @property
    def has_own_calibration(self) -> bool:
        """True when ``calibration`` names a file."""
        return self.calibration not in ("auto", "none")


class RepairSettings(Section):
    """How many candidates are derived."""

    derived: int = Field(
        8,
        ge=0,
        le=64,
        description="Most candidates that are derived from those that run, by rule and without the "
        "model; 0: none.",
    )
