"""The sections ``audit``, ``batch`` and ``page``."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from nl2sql.settings.section import Section


class AuditSettings(Section):
    """Where it is recorded who asked what, and which queries ran. Results are never recorded."""

    file: Path | None = Field(
        None, description="File to which a line of JSON is added for each question."
    )
    table: bool = Field(
        False, description="Record questions in the table quorumsql.audit_log of the index."
    )
    keep_days: int = Field(90, ge=1, description="Days after which rows of that table are deleted.")

    @property
    def is_used(self) -> bool:
        """Whether questions are recorded."""
        return self.table or self.file is not None


class BatchSettings(Section):
    """Jobs of `quorumsql batch`."""

    act_for: dict[str, tuple[str, ...]] = Field(
        {},
        description="Principals as which the questions of a job may be asked, by the principal "
        "that runs the job: {reports: [mia, max]}, or * for all. Without an entry a job asks only "
        "as the principal that runs it.",
    )


class PageSettings(Section):
    """The page at ``/``. The lists of roles count only where HTTP requests need a token."""

    enabled: bool = Field(True, description="Serve the page at `/`.")
    review_roles: tuple[str, ...] = Field(
        (), description="Roles whose people may work through answers that were said to be wrong."
    )
    operate_roles: tuple[str, ...] = Field(
        (),
        description="Roles whose people see in traces their queries with what the policy added, "
        "which names what it hides.",
    )
    sign_in_hours: int = Field(
        12, ge=1, le=8760, description="A sign-in on the page ends after this many hours."
    )
