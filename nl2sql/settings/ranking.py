"""How candidates are run and weighed in the vote, and the confidence that an answer needs."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.database import Milliseconds
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
    vote_rows: int = Field(
        1000, ge=1, le=100_000, description="Rows of each candidate that the vote compares."
    )
    vote_bytes: int = Field(
        8 * 2**20,
        ge=2**10,
        le=2**30,
        description="Size of all cells of one candidate in the vote.",
    )
    vote_timeout_ms: Milliseconds = Field(
        5000, description="Time limit of one candidate's run for the vote."
    )
    vote_budget_ms: Milliseconds = Field(
        20_000,
        description="Time limit of all candidates of a question together; those that have not run "
        "by then vote with their plans.",
    )
    vote_parallel: int = Field(
        4, ge=1, le=64, description="Candidates of a question that run concurrently."
    )
    value_probes: int = Field(
        4,
        ge=1,
        le=100,
        description="Most texts of one candidate that value_verification checks.",
    )
    settle_agreement: float = Field(
        1.0,
        gt=0,
        description="Sampling stops when this share of at least two samples agrees; above 1: only "
        "when the remaining samples could not change the winner.",
    )

    @property
    def has_own_calibration(self) -> bool:
        """True when ``calibration`` names a file."""
        return self.calibration not in ("auto", "none")
