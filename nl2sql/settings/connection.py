"""The connection to a database: a URL, and the environment variable with the password.

A server is named by a URL without password, or by the word ``embedded``; a file by a URL with
three slashes before a relative path, four before an absolute one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from pydantic import Field, model_validator

from nl2sql.errors import SettingsError
from nl2sql.settings.section import Section

_SQLITE = "sqlite:///"
_DUCKDB = "duckdb:///"
_EMBEDDED = "embedded"


class ConnectionSettings(Section):
    """One role's connection to a PostgreSQL database, or the path of an SQLite or DuckDB file."""

    url: str = Field(
        description="postgresql://user@host:port/database, without a password; "
        "`embedded` for a database of that name in the embedded server, `embedded:other` for "
        "another; sqlite:///relative/file or sqlite:////absolute/file, relative to this file, and "
        "duckdb:/// likewise."
    )
    password_env: str = Field("", description="Environment variable that holds the password.")

    @model_validator(mode="after")
    def _no_secret_in_the_file(self) -> ConnectionSettings:
        if self.file_path is not None:
            if self.password_env:
                raise ValueError("a file has no password; leave password_env out")
        elif not self.is_embedded:
            parts = urlsplit(self.url)
            if parts.scheme not in ("postgresql", "postgres"):
                raise ValueError(
                    "url must start with postgresql://, sqlite:/// or duckdb:///, or be the word "
                    "embedded"
                )
            if parts.password:
                raise ValueError(
                    "url holds a password; take it out and name an environment variable "
                    "in password_env"
                )
        return self

    @property
    def is_embedded(self) -> bool:
        """True for a database of the embedded server."""
        return self.url.split(":", 1)[0] == _EMBEDDED

    def embedded_database(self, name: str) -> str:
        """The name of the database in the embedded server; ``name`` if the URL names none."""
        return self.url.partition(":")[2] or name

    @property
    def sqlite_path(self) -> Path | None:
        """The SQLite file, or None for anything else."""
        return _read_path(self.url, _SQLITE)

    @property
    def duckdb_path(self) -> Path | None:
        """The DuckDB file, or None for anything else."""
        return _read_path(self.url, _DUCKDB)

    @property
    def file_path(self) -> Path | None:
        """The SQLite or DuckDB file, or None for a server."""
        return self.sqlite_path or self.duckdb_path

    def resolve(self, environ: Mapping[str, str] = os.environ) -> str:
        """The URL with its password. Raises SettingsError when the variable is not set."""
        if not self.password_env:
            return self.url
        if self.password_env not in environ:
            raise SettingsError(
                f"The environment variable {self.password_env} is not set.",
                hint=f"It holds the password for {self.url}.",
            )
        parts = urlsplit(self.url)
        password = quote(environ[self.password_env], safe="")
        netloc = f"{parts.username or ''}:{password}@{parts.netloc.rpartition('@')[2]}"
        return urlunsplit(parts._replace(netloc=netloc))


def _read_path(url: str, prefix: str) -> Path | None:
    path = url.removeprefix(prefix)
    return Path(path) if path and path != url else None


def build_sqlite_connection(path: Path) -> ConnectionSettings:
    """The connection to an SQLite file; ``sqlite_path`` reads it back."""
    return ConnectionSettings(url=f"{_SQLITE}{path}")


def build_duckdb_connection(path: Path) -> ConnectionSettings:
    """The connection to a DuckDB file; ``duckdb_path`` reads it back."""
    return ConnectionSettings(url=f"{_DUCKDB}{path}")
