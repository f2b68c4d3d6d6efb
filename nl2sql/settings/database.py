"""The settings of one database: its connections, policy, indexed values; and of an assistant.

A server is named by a URL without password, or by the word ``embedded``; a file by a URL with
three slashes before a relative path, four before an absolute one.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, quote, urlsplit, urlunsplit

from pydantic import Field, field_validator, model_validator

from nl2sql.settings.section import Section, read_variable

_SQLITE = "sqlite:///"
_DUCKDB = "duckdb:///"
_EMBEDDED = "embedded"
_UNREADABLE_URL = (
    "url must look like postgresql://role@host:5432/database: percent-encode the signs @ : / ? # "
    "in names, and leave the password out; password_env names the variable that holds it"
)


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
            parts = _split(self.url)
            if "@" in parts.path:
                raise ValueError(_UNREADABLE_URL)
            if parts.scheme not in ("postgresql", "postgres"):
                raise ValueError(
                    "url must start with postgresql://, sqlite:/// or duckdb:///, or be the word "
                    "embedded"
                )
            if parts.password or "password" in parse_qs(parts.query):
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

    def resolve(self) -> str:
        """The URL with its password. Raises SettingsError when the variable is not set."""
        if not self.password_env:
            return self.url
        parts = urlsplit(self.url)
        password = quote(read_variable(self.password_env, f"the password for {self.url}"), safe="")
        netloc = f"{parts.username or ''}:{password}@{parts.netloc.rpartition('@')[2]}"
        return urlunsplit(parts._replace(netloc=netloc))


def _split(url: str) -> SplitResult:
    """The parts of a URL. Raises ValueError, without the URL, in which a password may be."""
    try:
        parts = urlsplit(url)
        if "," not in parts.netloc:  # several hosts, each with its port
            _ = parts.port
    except ValueError:
        raise ValueError(_UNREADABLE_URL) from None
    return parts


def _read_path(url: str, prefix: str) -> Path | None:
    path = url.removeprefix(prefix)
    return Path(path) if path and path != url else None


def build_file_connection(path: Path, dialect: str) -> ConnectionSettings:
    """The connection to an SQLite or DuckDB file; ``file_path`` reads it back."""
    return ConnectionSettings(url=f"{_DUCKDB if dialect == 'duckdb' else _SQLITE}{path}")


class DatabaseSettings(Section):
    """One database. Indexing and queries use different roles."""

    reader: ConnectionSettings = Field(
        description="The role that runs queries: SELECT only, neither owner nor superuser; "
        "or an SQLite or DuckDB file, which is opened read-only."
    )
    indexer: ConnectionSettings | None = Field(
        None,
        description="The role that reads the system catalog. Required for a postgresql:// reader "
        "only.",
    )
    schemas: tuple[str, ...] = Field(
        default=(),
        description="Schemas to index, in search-path order; empty: all that are visible, those of "
        "the reader's own search path first.",
    )
    policy: Path | None = Field(
        None,
        description="The policy file: who may see which tables, rows and columns. Without one, "
        "everything that the reader may SELECT.",
    )
    row_level_security: bool = Field(
        False,
        description="The policy is also applied in the database (`quorumsql policy apply`): "
        "queries run under the database role of the principal's role. PostgreSQL only.",
    )
    allowlist: Path | None = Field(
        None, description="Functions, operators and types to allow besides the built-in ones."
    )
    description: str = Field(
        "", description="One sentence about the database, for people and the model."
    )
    today: date | None = Field(
        None,
        description="The present date of data that ends in the past (`2025-06-30`). The model is "
        "told it, and the days meant, with a question that has a relative date (last quarter). "
        "Without it, nothing is said, and queries use the database's clock.",
    )
    synonyms: Path | None = Field(
        None, description="A YAML file of synonyms for tables, columns and values."
    )
    semantics: Path | None = Field(
        None, description="A YAML file of measures, dimensions, named filters and descriptions."
    )
    skip_values: tuple[str, ...] = Field(
        default=(),
        description="Patterns of columns whose values are never read, so that questions are not "
        "matched with them (`hr.employees.iban`, `*.*.email`, `*` for all).",
    )
    demo: bool = Field(False, description="Load the demo ERP (embedded server only).")

    @property
    def dialect(self) -> str:
        """Its SQL dialect, under sqlglot's name."""
        if self.reader.sqlite_path is not None:
            return "sqlite"
        return "postgres" if self.reader.duckdb_path is None else "duckdb"

    @model_validator(mode="after")
    def _indexer_suits_the_reader(self) -> DatabaseSettings:
        if self.reader.file_path is not None:
            if self.indexer is not None:
                raise ValueError("a file has no roles: leave indexer out")
            if self.schemas and self.reader.sqlite_path is not None:
                raise ValueError("an SQLite file has no schemas: leave them out")
        elif self.indexer is None and not self.reader.is_embedded:
            raise ValueError("indexer is missing: name the role that reads the system catalog")
        return self


# About 250 tokens: on a CPU, each costs as much time as one of the question.
_MOST_INSTRUCTIONS = 1000


class AssistantSettings(Section):
    """A named view of one database: some of its tables, and instructions for the model.

    It has no rights: a principal may see through it what the policy shows of its tables.
    """

    database: str = Field(description="The database, whose connection, index and policy serve it.")
    tables: tuple[str, ...] = Field(
        default=(),
        description="Patterns of the tables that it shows (`sales.*`, `hr.employees`); all others "
        "are refused. Upper and lower case differ. Empty: all tables.",
    )
    instructions: str = Field(
        "", description="What the model is told with each question; at most 1,000 characters."
    )
    description: str = Field("", description="One sentence for people; empty: the database's.")
    semantics: Path | None = Field(
        None, description="A YAML file of definitions, in place of the database's."
    )

    @field_validator("instructions")
    @classmethod
    def _instructions_are_short(cls, text: str) -> str:
        text = text.strip()
        if len(text) > _MOST_INSTRUCTIONS:
            raise ValueError(
                f"{len(text):,} characters; at most {_MOST_INSTRUCTIONS:,} are allowed. Keep what "
                "every query must follow; put formulas and filters into semantics, and whole "
                "queries into examples"
            )
        return text

    def extend(self, database: DatabaseSettings) -> DatabaseSettings:
        """The settings of its database with its own in place of some."""
        own = {"description": self.description, "semantics": self.semantics}
        return database.model_copy(update={name: value for name, value in own.items() if value})
