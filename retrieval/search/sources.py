"""A retriever's further sources: cell values, examples, descriptions, definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Table
from nl2sql.types import Definition, FewShot, Question, ValueMatch, VerifiedQuery


class ValueSearch(Protocol):
    """Finds cell values that the question names."""

    async def match(self, question: Question, catalog: Catalog) -> tuple[ValueMatch, ...]:
        """Best first, only values that the question's principal may see."""
        ...


class ExampleSearch(Protocol):
    """Finds similar verified questions."""

    async def select(
        self, question: Question, vector: NDArray[np.float32], catalog: Catalog
    ) -> tuple[FewShot, ...]:
        """Best first, only examples that the question's principal may see."""
        ...

    async def find_verified(self, question: Question, catalog: Catalog) -> VerifiedQuery | None:
        """The query that was given for this very question, if the principal may see it."""
        ...


class DefinitionSearch(Protocol):
    """Finds definitions of the semantic layer that the question names."""

    async def find(self, question: Question, catalog: Catalog) -> tuple[Definition, ...]:
        """Only definitions of which the principal may see all that they read.

        ``catalog`` is what the principal may see.
        """
        ...


class Glossary(Protocol):
    """Describes tables and columns in addition to their names and comments."""

    async def describe(
        self, question: Question, tables: Sequence[Table], catalog: Catalog
    ) -> tuple[tuple[str, str], ...]:
        """Pairs of ``schema.table`` or ``schema.table.column`` and text."""
        ...
