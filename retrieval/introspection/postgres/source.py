"""A PostgreSQL database as a ``SourceDatabase``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from nl2sql.catalog import Catalog
from retrieval.introspection.key_samples import SqlSampler
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.postgres.key_samples import open_postgres_sampler
from retrieval.introspection.postgres.values import PostgresValues


@dataclass(frozen=True, slots=True)
class PostgresSource:
    """The database at ``indexer_url``, limited to what ``reader_role`` may SELECT.

    ``index_role`` is the role that reads for the index if row-level security is applied;
    ``find_values_login`` returns the URL and the role for reading values.
    """

    name: str
    indexer_url: str
    reader_role: str
    index_role: str
    schemas: tuple[str, ...]
    find_values_login: Callable[[], tuple[str, str]]

    def read_catalog(self) -> Catalog:
        """See ``SourceDatabase``."""
        return read_postgres_catalog(
            self.indexer_url,
            database=self.name,
            reader_role=self.reader_role,
            index_role=self.index_role,
            schemas=self.schemas,
        )

    def build_value_reader(self) -> PostgresValues:
        """See ``SourceDatabase``."""
        url, role = self.find_values_login()
        return PostgresValues(url, database=self.name, role=role)

    def open_sampler(self) -> AbstractContextManager[SqlSampler]:
        """See ``SourceDatabase``."""
        url, role = self.find_values_login()
        return open_postgres_sampler(url, database=self.name, role=role)
