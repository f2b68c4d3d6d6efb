"""Databases, tables and definitions as a principal may see them, for people who browse.

Knows nothing of FastAPI. What it reads of a database is counted and recorded like a question.
"""

from __future__ import annotations

from dataclasses import dataclass

from generation.conversation.suggestions import suggest_questions
from nl2sql.concurrency import gather_all
from nl2sql.types import Principal, RetrievedTable, SchemaContext
from quorumsql.contract.schema import (
    DatabaseResponse,
    DatabasesResponse,
    DefinitionsResponse,
    SemanticDefinitionResponse,
    SuggestionsResponse,
    TableDetailsResponse,
    TablesResponse,
)
from retrieval.schema_directory import SchemaDirectory, TableDescriptions
from serve_app.service.accounting import Accounting
from serve_app.service.query_service import QueryService
from serve_app.service.rendering import copy_fields
from serve_app.service.request_checks import MOST_SEARCH_CHARS, NotFound, check_filled, check_text
from serve_app.settings import Settings

MOST_SUGGESTIONS = 8

_LONGEST_NAME = 300
# Tables from which questions are made.
_MOST_READ = 200


@dataclass(frozen=True, slots=True)
class SchemaService:
    """Answers ``GET /databases/…``.

    All methods raise UnknownDatabase, Forbidden, LimitReached, Unavailable, PolicyError.
    """

    settings: Settings
    queries: QueryService
    schemas: SchemaDirectory
    accounting: Accounting

    async def list_databases(self, principal: Principal) -> DatabasesResponse:
        """The databases that the principal may ask."""
        names = await self.queries.list_databases(principal)
        found = await gather_all(
            self.schemas.describe_tables(name, (), principal, 0) for name in names
        )
        default, known = self.settings.choose_default(names), self.settings.by_name
        return DatabasesResponse(
            databases=[
                DatabaseResponse(
                    name=name,
                    description=known[name].description,
                    dialect=known[name].dialect,
                    is_default=name == default,
                    tables=described.total,
                )
                for name, described in zip(names, found, strict=True)
            ]
        )

    async def find_tables(
        self, database: str, search: str, principal: Principal, after: str, most: int
    ) -> TablesResponse:
        """A page of the tables that match. Raises also InvalidRequest."""
        search = check_text("search", search, MOST_SEARCH_CHARS)
        database = self.settings.database_name(database, principal)
        async with self.accounting.record(f"find_tables: {search}", database, principal):
            return await self.schemas.find_tables(database, search, principal, after, most)

    async def describe_table(
        self, database: str, name: str, principal: Principal
    ) -> TableDetailsResponse:
        """One table. Raises also NotFound, InvalidRequest."""
        name = check_filled("table", name, _LONGEST_NAME)
        database = self.settings.database_name(database, principal)
        async with self.accounting.record(f"describe_table: {name}", database, principal):
            found = await self.schemas.describe_table(database, name, principal)
        if found is None:
            raise NotFound(f"There is no table {name!r} in {database}.", field="table")
        return found

    async def list_definitions(self, database: str, principal: Principal) -> DefinitionsResponse:
        """The semantic layer."""
        database = self.settings.database_name(database, principal)
        async with self.accounting.record("list_definitions", database, principal):
            found = await self.schemas.list_definitions(database, principal)
        measures, dimensions, filters = (
            [copy_fields(SemanticDefinitionResponse, each) for each in found if each.kind == kind]
            for kind in ("measure", "dimension", "filter")
        )
        return DefinitionsResponse(measures=measures, dimensions=dimensions, filters=filters)

    async def suggest(self, database: str, principal: Principal) -> SuggestionsResponse:
        """Questions that can be asked: verified ones, then some of definitions, then of tables."""
        name = self.settings.database_name(database, principal)
        async with self.accounting.record("suggest", name, principal):
            described = await self.schemas.describe_tables(name, (), principal, _MOST_READ)
            examples = await self.schemas.list_examples(name, principal)
            definitions = await self.schemas.list_definitions(name, principal)
        verified = [example.question for example in examples]
        defined = suggest_questions(SchemaContext(definitions=definitions), MOST_SUGGESTIONS)
        made = suggest_questions(_build_context(described), MOST_SUGGESTIONS)
        # Definitions have a place even where there are many verified questions.
        half = MOST_SUGGESTIONS // 2
        known = dict.fromkeys((*verified[:half], *defined[:half], *verified, *defined, *made))
        return SuggestionsResponse(questions=list(known)[:MOST_SUGGESTIONS])


def _build_context(described: TableDescriptions) -> SchemaContext:
    return SchemaContext(
        tables=tuple(RetrievedTable(table, 0.0) for table in described.tables),
        foreign_keys=described.foreign_keys,
        names=described.names,
        dialect=described.dialect,
    )
