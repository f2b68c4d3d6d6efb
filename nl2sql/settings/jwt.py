"""Signed tokens of an identity provider: the section ``identity.jwt``."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from nl2sql.settings.section import Section

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ClaimSettings(Section):
    """Which claims of a token describe its principal. A token without one of them is refused."""

    name: str = Field("sub", min_length=1, description="Claim with the principal's name.")
    roles: str = Field(
        "roles",
        description="Claim with the roles: a list, or a text with blanks between them. A dotted "
        "path leads into objects (realm_access.roles). Empty: a principal has no roles.",
    )
    attributes: dict[str, str] = Field(
        {}, description="Attribute of the policy files → claim with its value."
    )
    databases: str = Field(
        "", description="Claim with the databases that the principal may ask. Empty: all."
    )


class JwtSettings(Section):
    """Which signed tokens (JWT) are accepted, and who signs them."""

    issuer: str = Field(
        "", description="Issuer of the tokens (claim iss). Empty: no signed tokens are accepted."
    )
    audience: str = Field("", description="Audience of the tokens (claim aud); required.")
    jwks_file: Path | None = Field(
        None, description="File with the issuer's public keys (JWKS); relative to this file."
    )
    jwks_url: str = Field(
        "",
        description="Address of the issuer's public keys. If neither it nor jwks_file is set, the "
        "address is read from ISSUER/.well-known/openid-configuration.",
    )
    claims: ClaimSettings = ClaimSettings()

    @field_validator("jwks_url")
    @classmethod
    def _url_is_safe(cls, url: str) -> str:
        if url:
            check_key_url(url)
        return url

    @model_validator(mode="after")
    def _is_complete(self) -> JwtSettings:
        if not self.issuer:
            if self.audience or self.jwks_file is not None or self.jwks_url:
                raise ValueError("name the issuer of the tokens")
            return self
        if not self.audience:
            raise ValueError("name the audience: without it, tokens for other services would pass")
        if self.jwks_file is not None and self.jwks_url:
            raise ValueError("name jwks_file or jwks_url, not both")
        if self.jwks_file is None and not self.jwks_url:
            check_key_url(self.issuer)
        return self

    @property
    def is_used(self) -> bool:
        """Whether signed tokens are accepted."""
        return bool(self.issuer)


def check_key_url(url: str) -> None:
    """Raises ValueError unless public keys can be fetched from ``url`` without being exchanged.

    >>> check_key_url("https://login.example.com/keys")
    >>> check_key_url("http://login.example.com/keys")
    Traceback (most recent call last):
    ...
    ValueError: http://login.example.com/keys: only addresses with https are used
    """
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise ValueError(f"{url}: only addresses with https are used")
