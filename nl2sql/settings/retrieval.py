"""The schema index, and which part of it is shown: the sections ``index`` and ``retrieval``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nl2sql.settings.connection import ConnectionSettings
from nl2sql.settings.section import Section


class RetrievalSettings(Section):
    """Which part of the schema, values and examples the model sees."""

    max_tables: int = Field(
        18, ge=1, le=200, description="Tables that search finds for a question."
    )
    full_tables: int = Field(
        3,
        ge=0,
        le=200,
        description="How many of them are shown in full; the others by the names of the columns "
        "that are most likely needed.",
    )
    whole_tables: int = Field(
        16, ge=0, le=200, description="A database of at most so many tables is shown whole."
    )
    module_tables: int = Field(
        12,
        ge=0,
        le=200,
        description="The best table's module is shown whole if it has at most so many tables; the "
        "engine's cache of it serves the next question too.",
    )
    fk_expansion_limit: int = Field(
        4,
        ge=0,
        le=100,
        description="How many tables may be added by foreign keys alone; 0 also ranks without "
        "the keys.",
    )
    examples: int = Field(3, ge=0, le=20, description="Verified questions shown as examples.")
    example_min_similarity: float = Field(
        0.4, ge=-1, le=1, description="Examples with a lower cosine similarity are not shown."
    )
    same_question: bool = Field(
        True,
        description="Also show an example whose question equals the one asked. Evaluations never "
        "do.",
    )
    linking: Literal["deterministic", "full", "tcsl", "scsl"] = Field(
        "deterministic",
        description="What links the question to the schema: rules; or the model, over the whole "
        "schema at once, tables then columns, or column by column.",
    )


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
