"""The settings of one database: roles, policy, modules, indexed values."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from nl2sql.settings.connection import ConnectionSettings
from nl2sql.settings.section import Section

Milliseconds = Annotated[int, Field(ge=1, le=600_000)]


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
        description="Schemas to index, in search-path order; empty: all that are visible.",
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
        None, description="Functions, types and system tables to allow besides the built-in ones."
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
    modules: dict[str, tuple[str, ...]] = Field(
        default={},
        description="Module → patterns of its tables (`sales.*`, `*.invoice_*`). Tables that match "
        "no pattern are assigned to a module automatically.",
    )
    synonyms: Path | None = Field(
        None, description="A YAML file of synonyms for tables, columns and values."
    )
    semantics: Path | None = Field(
        None, description="A YAML file of definitions: measures, dimensions and named filters."
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
