"""Checks as which principals a job may ask."""

from __future__ import annotations

from nl2sql.errors import Forbidden, SettingsError
from nl2sql.settings import Settings
from serve_app.batch.job import Job

ANYBODY = "*"


def check_principals(settings: Settings, job: Job) -> None:
    """Raises Forbidden if the submitter may not act for a principal that a question names.

    Checked at each start, so that a job does not go on with rights that were withdrawn. Raises
    SettingsError for an unknown principal.
    """
    identity, submitter = settings.identity, job.spec.submitter
    identity.principal(submitter)
    allowed = settings.batch.act_for.get(submitter, ())
    for name in job.stored.principals:
        if not name or name == submitter:
            continue
        if ANYBODY not in allowed and name not in allowed:
            raise Forbidden(
                f"{submitter} may not ask as {name}.",
                hint=f"List it under batch.act_for.{submitter} in the settings.",
            )
        try:
            identity.principal(name)
        except SettingsError as error:
            raise SettingsError(f"A question names {name!r}. {error.message}") from error
