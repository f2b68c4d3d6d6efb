"""Where the schema index is kept, and what indexing adds: the section ``index``."""

from __future__ import annotations

from pydantic import Field

from nl2sql.settings.connection import (
    ConnectionSettings,
)
from nl2sql.settings.section import Section


class IndexSettings(Section):
    """Where the schema index lives: a PostgreSQL with pgvector, in the schema `quorumsql`."""

    connection: ConnectionSettings = ConnectionSettings(url="embedded")
    embedder: str = Field(
        "all-MiniLM-L6-v2",
        description="Another model of sentence-transformers by name, hub id or folder needs the "
        "extra `embedders`.",
    )
    model_glosses: bool = Field(
        False,
        description="Have the model describe columns that nothing describes, once, while indexing.",
    )
    infer_keys: bool = Field(
        True,
        description="Find joins that no foreign key declares, by names, types and sampled values.",
    )
