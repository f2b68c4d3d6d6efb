"""A schema directory without an index."""

from __future__ import annotations

from typing import Any

from nl2sql.protocols import Visibility
from retrieval.glosses import IndexedGlossary
from retrieval.index_store.value_store import ValueColumn
from retrieval.schema_directory import SchemaDirectory
from retrieval.vocabulary.terms import NO_SYNONYMS, Synonyms
from tests.retrieval.values.builders import FakeMemory


def build_directory(
    visibility: Visibility, *values: ValueColumn, synonyms: Synonyms = NO_SYNONYMS, **parts: Any
) -> SchemaDirectory:
    """What ``visibility`` shows, with these values; ``synonyms`` are those of the shop."""
    memory = FakeMemory(*values)
    glossary = IndexedGlossary(memory, visibility, {"shop": synonyms})
    return SchemaDirectory(visibility, glossary, **parts)
