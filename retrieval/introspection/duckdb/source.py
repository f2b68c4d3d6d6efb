"""A DuckDB file as a ``SourceDatabase``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from nl2sql.catalog import Catalog
from retrieval.introspection.duckdb.catalog import read_duckdb_catalog
from retrieval.introspection.duckdb.key_samples import open_duckdb_sampler
from retrieval.introspection.duckdb.values import DuckDbValues
from retrieval.introspection.key_samples import SqlSampler


@dataclass(frozen=True, slots=True)
class DuckDbSource:
    """The file at ``path``."""

    name: str
    path: Path
    schemas: tuple[str, ...]

    def read_catalog(self) -> Catalog:
        """See ``SourceDatabase``."""
        return read_duckdb_catalog(self.path, database=self.name, schemas=self.schemas)

    def build_value_reader(self) -> DuckDbValues:
        """See ``SourceDatabase``."""
        return DuckDbValues(self.path, database=self.name)

    def open_sampler(self) -> AbstractContextManager[SqlSampler]:
        """See ``SourceDatabase``."""
        return open_duckdb_sampler(self.path, database=self.name)
