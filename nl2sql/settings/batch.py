"""Jobs of many questions: the section ``batch``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section


class BatchSettings(Section):
    """Jobs of `quorumsql batch`."""

    act_for: dict[str, tuple[str, ...]] = Field(
        {},
        description="Principals as which the questions of a job may be asked, by the principal "
        "that runs the job: {reports: [mia, max]}, or * for all. Without an entry a job asks only "
        "as the principal that runs it.",
    )
