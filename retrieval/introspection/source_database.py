"""The protocol by which indexing reads a database; each kind of database implements it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from nl2sql.catalog import Catalog
from retrieval.introspection.containment import Sampler
from retrieval.introspection.text_columns import ValueReader


class SourceDatabase(Protocol):
    """Reads what queries on the database may read, and never writes.

    All methods, and entering what they return, raise DatabaseUnavailable.
    """

    def read_catalog(self) -> Catalog:
        """The present schema, limited to what the reader may see."""
        ...

    def build_value_reader(self) -> ValueReader:
        """A reader of distinct values; entering it opens a connection."""
        ...

    def open_sampler(self) -> AbstractContextManager[Sampler]:
        """A sampler of values for key inference."""
        ...
