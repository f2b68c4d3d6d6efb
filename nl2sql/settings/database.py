"""What ``quorumsql.yaml`` says of one database: roles, policy, modules, indexed values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from nl2sql.settings.connection import ConnectionSettings
from nl2sql.settings.section import Section

Milliseconds = Annotated[int, Field(ge=1, le=600_000)]


class ValueIndexSettings(Section):
    """Which cell values are indexed, so that a word of a question can be found among them."""

    enabled: bool = Field(True, description="Index the distinct values of text columns.")
    max_distinct: int = Field(
        10_000, ge=1, le=1_000_000, description="A column with more distinct values is left out."
    )
    max_length: int = Field(
        100, ge=1, le=1000, description="A longer value, in characters, is left out."
    )
    max_values: int = Field(
        1_000_000, ge=1, description="Values of the whole database, smallest columns first."
    )
    skip: tuple[str, ...] = Field(
        default=(),
        description="Patterns of columns never to read (`hr.employees.iban`, `*.*.email`).",
    )
    timeout_ms: Milliseconds = Field(5000, description="One table; a slower one is left out.")


class DatabaseSettings(Section):
    """One database that may be asked. Its index and its queries use different roles."""

    reader: ConnectionSettings = Field(
        description="The role that runs queries: SELECT only, neither owner nor superuser; "
        "or an SQLite or DuckDB file, which is opened read-only."
    )
    indexer: ConnectionSettings | None = Field(
        None,
        description="The role that reads the system catalog. Only a postgresql:// reader needs "
        "it named.",
    )
    schemas: tuple[str, ...] = Field(
        default=(),
        description="Schemas to index, in search-path order; none means all that are visible.",
    )
    policy: Path | None = Field(
        None,
        description="Row policies: who may see which tables, rows and columns. Without one, all "
        "that the reader may SELECT.",
    )
    fence: bool = Field(
        True,
        description="Keep conditions of a query away from rows that a policy filters out, so that "
        "no error or pause tells of them. Off is faster and leaks through errors.",
    )
    row_level_security: bool = Field(
        False,
        description="The policy is in the database too (`quorumsql policy apply`): queries run "
        "under the database role of the principal's role. PostgreSQL only.",
    )
    allowlist: Path | None = Field(
        None, description="Functions, types and system tables to allow besides the built-in ones."
    )
    description: str = Field("", description="One sentence about it, for people and the model.")
    modules: dict[str, tuple[str, ...]] = Field(
        default={},
        description="Module → patterns of its tables (`sales.*`, `*.invoice_*`). A table that none "
        "matches belongs to the module that is found for it.",
    )
    synonyms: Path | None = Field(
        None, description="A YAML file of words that people use for tables, columns and values."
    )
    values: ValueIndexSettings = ValueIndexSettings()
    demo: bool = Field(False, description="Load the demo ERP into it (embedded server only).")

    @property
    def dialect(self) -> str:
        """What it speaks, under sqlglot's name."""
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
