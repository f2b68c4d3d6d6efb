"""Who asks: the section ``identity``.

A principal is identified by name on the command line and by a bearer token over HTTP: a token from
an environment variable, an API key, or a signed token of an identity provider. The file holds the
names of the environment variables, never tokens.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from nl2sql.errors import SettingsError
from nl2sql.settings.section import Section, read_variable
from nl2sql.types import AttributeValue, Entitlement, Principal, UsageLimits
from quorumsql.loopback import is_loopback


class UsageSettings(Section):
    """Limits for each principal; 0: no limit. What one principal's limits leave out is general."""

    requests_per_minute: int | None = Field(
        None, ge=0, description="HTTP requests of a principal in a minute, over all replicas."
    )
    questions_at_once: int | None = Field(
        None, ge=0, description="Questions of a principal that are answered at a time."
    )
    tokens_per_day: int | None = Field(
        None,
        ge=0,
        description="Tokens of the language model, prompts and completions, that a principal may "
        "use on a day (UTC). Questions in progress are finished.",
    )
    rows_per_day: int | None = Field(
        None, ge=0, description="Rows that a principal may receive on a day (UTC)."
    )

    def build_limits(self) -> UsageLimits:
        """The limits as a value."""
        return UsageLimits(**self.model_dump())


class LoginSettings(Section):
    """The service as a client of the identity provider that ``identity.jwt`` names."""

    client_id: str = Field(
        "",
        description="The service's name at the identity provider. Set: people sign in on the page "
        "there (OpenID Connect), and the claims of identity.jwt.claims are read from the ID token.",
    )
    client_secret_env: str = Field(
        "", description="Environment variable with the client's secret. Empty: the client has none."
    )
    scopes: tuple[str, ...] = Field(
        ("profile",), description="What the provider is asked for, besides openid."
    )

    @property
    def is_used(self) -> bool:
        """Whether people can sign in at the provider."""
        return bool(self.client_id)

    def read_secret(self) -> str:
        """The client's secret; empty if it has none. Raises SettingsError if it is missing."""
        if not self.client_secret_env:
            return ""
        return read_variable(self.client_secret_env, "the secret of identity.login.client_id")


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
    jwks: str = Field(
        "",
        description="The issuer's public keys (JWKS): their address, or a file relative to this "
        "one. Empty: the address is read from ISSUER/.well-known/openid-configuration.",
    )
    claims: ClaimSettings = ClaimSettings()

    @model_validator(mode="after")
    def _is_complete(self) -> JwtSettings:
        if not self.issuer:
            if self.audience or self.jwks:
                raise ValueError("name the issuer of the tokens")
            return self
        if not self.audience:
            raise ValueError("name the audience: without it, tokens for other services would pass")
        if self.jwks_file is None:
            check_key_url(self.jwks or self.issuer)
        return self

    @property
    def jwks_file(self) -> Path | None:
        """The file of the public keys; None for an address."""
        return Path(self.jwks) if self.jwks and "://" not in self.jwks else None

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
    is_local = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise ValueError(f"{url}: only addresses with https are used")


# The principal of requests that name none.
LOCAL = "local"


class LocalSettings(Section):
    """The local principal: its roles and attributes in policies."""

    roles: tuple[str, ...] = Field((), description="Roles of the policy files.")
    attributes: dict[str, AttributeValue] = Field(
        {}, description="Values for row filters, such as department_id: 3 or regions: [1, 2]."
    )
    databases: tuple[str, ...] = Field(
        (), description="The databases that this principal may ask; empty: all."
    )


class PrincipalSettings(LocalSettings):
    """One principal: its roles and attributes in policies, its token and limits."""

    token_env: str = Field(
        "", description="Environment variable with the bearer token of this principal's requests."
    )
    limits: UsageSettings = Field(
        UsageSettings(), description="Limits of this principal in place of identity.limits."
    )


class IdentitySettings(Section):
    """The principals that may ask."""

    local: LocalSettings = Field(
        LocalSettings(),
        description="The principal on the command line and, as long as no principal has a token, "
        "over HTTP.",
    )
    principals: dict[str, PrincipalSettings] = Field(
        {}, description="Other principals by name. Once one has a token, HTTP requests need one."
    )
    api_keys: bool = Field(
        False,
        description="Accept API keys, which `quorumsql keys` makes. HTTP requests need a token.",
    )
    jwt: JwtSettings = Field(
        JwtSettings(), description="Signed tokens of an identity provider. HTTP requests need one."
    )
    login: LoginSettings = Field(
        LoginSettings(), description="Signing in on the page at that identity provider."
    )
    limits: UsageSettings = Field(UsageSettings(), description="Limits of every principal.")

    @model_validator(mode="after")
    def _is_consistent(self) -> IdentitySettings:
        if LOCAL in self.principals:
            raise ValueError(f"the name {LOCAL!r} is taken")
        if self.login.is_used:
            if not self.jwt.is_used:
                raise ValueError("login needs the provider that jwt.issuer and jwt.audience name")
            check_key_url(self.jwt.issuer)
        return self

    def principal(self, name: str = "") -> Principal:
        """The principal of that name, the local one by default. Raises SettingsError."""
        if not name or name == LOCAL:
            return _build_principal(LOCAL, self.local)
        if name not in self.principals:
            known = ", ".join((LOCAL, *self.principals))
            raise SettingsError(
                f"There is no principal {name!r}.", hint=f"Known under identity: {known}."
            )
        return _build_principal(name, self.principals[name])

    def read_token(self, name: str) -> str:
        """The bearer token of a principal; empty for the local one.

        Raises SettingsError for an unknown principal or a missing token.
        """
        self.principal(name)
        if name == LOCAL:
            return ""
        variable = self.principals[name].token_env
        if not variable:
            # Without a token the service would answer as another principal.
            raise SettingsError(
                f"{name} has no token, so the service cannot know who asks.",
                hint=f"Name one under identity.principals.{name}.token_env, or ask --in-process.",
            )
        return read_variable(variable, f"the token of {name}")

    @property
    def needs_token(self) -> bool:
        """Whether HTTP requests must carry a bearer token."""
        return self.has_static_tokens or self.api_keys or self.jwt.is_used

    @property
    def has_static_tokens(self) -> bool:
        """Whether a principal has a token in an environment variable."""
        return any(settings.token_env for settings in self.principals.values())

    def knows_all_tokens(self) -> bool:
        """Whether this process has every token that is accepted: none is issued elsewhere."""
        variables = (settings.token_env for settings in self.principals.values())
        has_all = all(os.environ.get(variable) for variable in variables if variable)
        return has_all and not (self.api_keys or self.jwt.is_used)

    def find_limits(self, principal: Principal) -> UsageLimits:
        """The limits of a principal: its key's, else those under its name, else ``limits``."""
        own = self.principals.get(principal.name)
        defaults = self.limits.build_limits()
        if own is not None:
            defaults = own.limits.build_limits().complete(defaults)
        return principal.access.limits.complete(defaults)

    def find_by_token(self, token: str) -> Principal | None:
        """The principal with this token, or None; tokens are compared in constant time."""
        found = None
        for name, settings in self.principals.items():
            own = os.environ.get(settings.token_env, "")
            if own and secrets.compare_digest(own.encode(), token.encode()):
                found = _build_principal(name, settings)
        return found


def _build_principal(name: str, settings: LocalSettings) -> Principal:
    own = settings.limits if isinstance(settings, PrincipalSettings) else UsageSettings()
    access = Entitlement(databases=settings.databases, limits=own.build_limits())
    return Principal(name, settings.roles, tuple(settings.attributes.items()), access)
