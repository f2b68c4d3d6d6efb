"""The page, and what its users may do there: the section ``page``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.section import Section


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
