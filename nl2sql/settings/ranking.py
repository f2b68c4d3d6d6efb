"""How candidates are run for the vote, weighed, and when an answer is good enough to be given."""

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
        description="Below this confidence the answer is Clarify; 0 answers always. Unset: the "
        "threshold of the calibration; where a confidence is not calibrated, 0.",
    )
    calibration: str = Field(
        "auto",
        description="How agreement becomes a confidence: auto, the packaged calibration; none, the "
        "low end of the Wilson interval; or a file that `quorumsql eval calibrate` wrote.",
    )
    vote_rows: int = Field(
        1000, ge=1, le=100_000, description="Rows of each candidate that the vote compares."
    )
    vote_bytes: int = Field(
        8 * 2**20, ge=2**10, le=2**30, description="All cells of one candidate in the vote."
    )
    vote_timeout_ms: Milliseconds = Field(5000, description="One candidate's run for the vote.")
    vote_budget_ms: Milliseconds = Field(
        20_000,
        description="All candidates of a question together; what has not run by then votes with "
        "its plan.",
    )
    vote_parallel: int = Field(
        4, ge=1, le=64, description="Candidates of a question that run at the same time."
    )
    vote_empty_weight: float = Field(
        0.5,
        gt=0,
        le=1,
        description="What a sample counts whose result says nothing: no rows, or one row of zeros "
        "and NULLs. 1: as much as any.",
    )
    vote_score_weight: float = Field(
        6.0,
        ge=0,
        le=20,
        description="A sample counts exp(this x (score - 100) / 100); 0: whatever its score.",
    )
    vote_logprob_weight: float = Field(
        0.0,
        ge=0,
        le=20,
        description="A sample counts exp(this x its mean token log-probability); 0: whatever it "
        "is.",
    )
    vote_repair_weight: float = Field(
        1.0, gt=0, le=1, description="What a sample counts that had to be repaired."
    )
    value_probes: int = Field(
        4,
        ge=1,
        le=100,
        description="Texts of one candidate that value_verification asks the database about.",
    )
    settle_agreement: float = Field(
        1.0,
        gt=0,
        description="Sampling stops when so large a share agrees, at least two samples; above 1 "
        "only when the rest could not overturn the lead.",
    )

    @property
    def has_own_calibration(self) -> bool:
        """True when ``calibration`` names a file."""
        return self.calibration not in ("auto", "none")
