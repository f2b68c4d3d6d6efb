"""The revision of what the index tells about a database: a text that differs after every change.

It has what questions are answered with in this process now, not what is newest: the number of the
index in use, the version of the values in memory, the definitions read at start, and the examples,
which are read for each question. A change of the first two is noticed within about a second, as
for questions. An example that is added and removed again while one question is answered is not
seen.
"""

from __future__ import annotations

from nl2sql.concurrency import gather_all
from retrieval.catalogs import IndexedCatalogs
from retrieval.index_store.example_store import ExampleStore
from retrieval.semantics.layer import SemanticLayer
from retrieval.values.memory import ValueMemory


class IndexRevisions:
    """Reads the revisions through the parts that answer questions."""

    def __init__(
        self,
        catalogs: IndexedCatalogs,
        memory: ValueMemory,
        examples: ExampleStore,
        definitions: SemanticLayer | None = None,
    ) -> None:
        self._catalogs = catalogs
        self._memory = memory
        self._examples = examples
        self._definitions = definitions

    async def revision(self, database: str) -> str:
        """See ``Revisions.revision``. Raises IndexUnavailable."""
        generation, *others = await gather_all(
            (
                self._read_generation(database),
                self._memory.version(database),
                self._examples.revision(database),
            )
        )
        defined = self._definitions.revision(database) if self._definitions else ""
        return " ".join((generation, *others, *((defined,) if defined else ())))

    async def _read_generation(self, database: str) -> str:
        return str(await self._catalogs.generation(database))
