"""The schema index and optional steps of indexing: the section ``index``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.connection import (
    ConnectionSettings,
)
from nl2sql.settings.section import Section


class IndexSettings(Section):
    """The schema index: in a PostgreSQL database with pgvector, in the schema `quorumsql`."""

    connection: ConnectionSettings = ConnectionSettings(url="embedded")
    embedder: str = Field(
        "all-MiniLM-L6-v2",
        description="The embedding model. Others than the default (sentence-transformers, by name, "
        "hub id or folder) need the extra `embedders`.",
    )
    infer_keys: bool = Field(
        True,
        description="Infer undeclared foreign keys from names, types and sampled values.",
    )
