"""Signing in on the page at an identity provider: the section ``identity.login``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import Field, field_validator

from nl2sql.errors import SettingsError
from nl2sql.settings.section import Section

_OPENID = "openid"


class LoginSettings(Section):
    """The service as a client of the identity provider that ``identity.jwt`` names."""

    client_id: str = Field(
        "",
        description="The service's name at the identity provider. Set: people sign in on the page "
        "there (OpenID Connect), and the claims of identity.jwt.claims are read from the ID token.",
    )
    client_secret_env: str = Field(
        "",
        description="Environment variable with the client's secret. Empty: the client has none.",
    )
    scopes: tuple[str, ...] = Field(
        (_OPENID, "profile"), description="What the provider is asked for; openid among it."
    )

    @field_validator("scopes")
    @classmethod
    def _asks_for_an_id_token(cls, scopes: tuple[str, ...]) -> tuple[str, ...]:
        if _OPENID not in scopes:
            raise ValueError(f"without the scope {_OPENID} there is no ID token")
        return scopes

    @property
    def is_used(self) -> bool:
        """Whether people can sign in at the provider."""
        return bool(self.client_id)

    def read_secret(self, environ: Mapping[str, str] = os.environ) -> str:
        """The client's secret; empty if it has none. Raises SettingsError if it is missing."""
        if not self.client_secret_env:
            return ""
        if not environ.get(self.client_secret_env):
            raise SettingsError(
                f"The environment variable {self.client_secret_env} is not set.",
                hint="It holds the secret of identity.login.client_id.",
            )
        return environ[self.client_secret_env]
