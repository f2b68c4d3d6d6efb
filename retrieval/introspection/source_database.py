"""One database, as indexing reads it: a class for each kind of database."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from nl2sql.catalog import Catalog
from retrieval.introspection.containment import Sampler
from retrieval.introspection.text_columns import ValueReader


class SourceDatabase(Protocol):
    """Reads what queries on the database may read, and never writes."""

    def read_catalog(self) -> Catalog:
        """The schema as it is now, as far as the reader may see it. Raise DatabaseUnavailable."""
        ...

    def build_value_reader(self) -> ValueReader:
        """Reads distinct values; entering it opens a connection. Raise DatabaseUnavailable."""
        ...

    def open_sampler(self) -> AbstractContextManager[Sampler]:
        """Samples values for key inference. Raise DatabaseUnavailable, also on entering."""
        ...
