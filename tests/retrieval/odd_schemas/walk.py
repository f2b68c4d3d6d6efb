"""Takes an odd schema through every stage that meets its names: index, retrieval, plan, prompt,
guard, execution.

What the prompt calls a table or a column must be what the database finds: so the queries here are
written in the prompt's own words.
"""

from __future__ import annotations

from dataclasses import dataclass

from execution.executor import Database
from execution.guard.guard import SqlGuard
from nl2sql.catalog import Catalog, Table
from nl2sql.schema_text import Form, render_schema
from nl2sql.settings import FlagSettings, RetrievalSettings
from nl2sql.sql.names import quote_name
from nl2sql.types import (
    Diagnostic,
    GuardedQuery,
    Plan,
    Principal,
    Question,
    ResultSet,
    SchemaContext,
)
from nl2sql.words import split_words
from retrieval.indexing import index_database
from retrieval.planner import SchemaPlanner
from retrieval.search.retriever import HybridRetriever
from tests.fakes import FakeCatalogs, FakeEmbedder, FakeIndexStore

ASKER = Principal("asker")

_FORMS: tuple[Form, ...] = ("ddl", "names")

# A query may be 20,000 characters long.
_LONGEST_LIST = 15_000


@dataclass(frozen=True, slots=True)
class Walked:
    """One question's context and plan, and the schema in each form that a prompt may have it in."""

    context: SchemaContext
    plan: Plan
    texts: tuple[str, ...]


def list_skipped(catalog: Catalog) -> list[tuple[str, str]]:
    """What was left out of a catalog, and why."""
    return sorted((f"{skipped.kind} {skipped.name}", skipped.reason) for skipped in catalog.skipped)


class OddDatabase:
    """One odd schema, indexed in memory, with a real database behind it if it is to be read."""

    def __init__(
        self,
        catalog: Catalog,
        database: Database | None = None,
        *,
        guard: SqlGuard | None = None,
        asker: Principal = ASKER,
    ) -> None:
        self.catalog = catalog
        self.embedder = FakeEmbedder()
        self._guard = guard or SqlGuard(FakeCatalogs(catalog))
        self._asker = asker
        self._database = database
        self._store = FakeIndexStore()
        settings, flags = RetrievalSettings(), FlagSettings()
        self._retriever = HybridRetriever(self._store, self.embedder, self._guard, settings, flags)
        self._planner = SchemaPlanner(settings, flags)

    async def index(self) -> None:
        """Builds the index."""
        await index_database(self.catalog, self._store, self.embedder)

    async def ask(self, text: str) -> Walked:
        """What the model would be shown for the question."""
        question = Question(text, self.catalog.database, self._asker, k=1, seed=0, max_rows=10)
        _, context = await self._retriever.retrieve(question)
        plan = await self._planner.plan(question, context)
        texts = tuple(render_schema(context, form=form, columns=plan.columns) for form in _FORMS)
        return Walked(context, plan, texts)

    async def ask_for(self, table: Table) -> Walked:
        """The same, for a question with the words of the table's name and of its last column."""
        words = [*split_words(table.name), "and", *split_words(table.columns[-1].name)]
        return await self.ask(f"How many {' '.join(words)} are there?")

    async def ask_for_tables(self) -> None:
        """Asks for the first tables; each question finds tables, and its joins can be executed."""
        for table in self.catalog.tables[:8]:
            walked = await self.ask_for(table)
            assert walked.context.tables
            if walked.plan.joins.skeleton:
                joined = await self.run(f"SELECT count(*) {walked.plan.joins.skeleton}")
                assert not isinstance(joined, Diagnostic), (joined, walked.plan.joins)

    async def run(self, sql: str) -> ResultSet | Diagnostic:
        """The guarded query's result; the guard must let it pass."""
        guarded = await self._guard.guard(self.catalog.database, sql, self._asker)
        assert isinstance(guarded, GuardedQuery), (guarded, sql[:500])
        assert self._database is not None
        return await self._database.execute(guarded, 10)

    async def read(self, table: Table) -> ResultSet | Diagnostic:
        """The table's last columns, as many as a query may name, bare and behind its name."""
        dialect, name = self.catalog.dialect, self.catalog.short_names[table.qualified]
        columns: list[str] = []
        for column in reversed(table.columns):
            columns.append(quote_name(column.name, dialect))
            if sum(map(len, columns)) > _LONGEST_LIST:
                break
        behind = quote_name(table.name, dialect)
        columns += [f"{behind}.{column}" for column in columns[:30]]
        return await self.run(f"SELECT {', '.join(columns)} FROM {name}")
