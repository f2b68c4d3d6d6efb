"""The audit log: the section ``audit``."""

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
