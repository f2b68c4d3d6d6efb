"""The base class of all sections of ``quorumsql.yaml``, and the secrets that these name."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from nl2sql.errors import SettingsError

Milliseconds = Annotated[int, Field(ge=1, le=600_000)]


class Section(BaseModel):
    """Base of all sections: immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_variable(variable: str, what: str) -> str:
    """The value of an environment variable, which holds ``what``.

    Raises SettingsError if it is not set, or empty.
    """
    if not (secret := os.environ.get(variable)):
        raise SettingsError(
            f"The environment variable {variable} is not set.", hint=f"It holds {what}."
        )
    return secret
