"""An SQLite file as a ``SourceDatabase``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from nl2sql.catalog import Catalog
from retrieval.introspection.key_samples import SqlSampler
from retrieval.introspection.sqlite.catalog import read_sqlite_catalog
from retrieval.introspection.sqlite.key_samples import open_sqlite_sampler
from retrieval.introspection.sqlite.values import SqliteValues


@dataclass(frozen=True, slots=True)
class SqliteSource:
    """The file at ``path``."""

    name: str
    path: Path

    def read_catalog(self) -> Catalog:
        """See ``SourceDatabase``."""
        return read_sqlite_catalog(self.path, database=self.name)

    def build_value_reader(self) -> SqliteValues:
        """See ``SourceDatabase``."""
        return SqliteValues(self.path, database=self.name)

    def open_sampler(self) -> AbstractContextManager[SqlSampler]:
        """See ``SourceDatabase``."""
        return open_sqlite_sampler(self.path, database=self.name)
