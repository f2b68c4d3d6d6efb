"""``GET /databases/…``: databases, tables, definitions and suggestions."""

from __future__ import annotations

from fastapi import APIRouter, Response

from quorumsql.contract.schema import (
    DatabasesResponse,
    DefinitionsResponse,
    SuggestionsResponse,
    TableDetailsResponse,
    TablesResponse,
)
from serve_app.http.route_parts import After, Caller, Limit, Search, describe_response, render_model
from serve_app.service.schema_service import SchemaService

_DATABASES = describe_response("The databases that the principal may ask.", DatabasesResponse)
_TABLES = describe_response(
    "A page of the tables that the principal sees. All words of the search occur in the name, a "
    "column, a comment or a gloss; tables with them in their names come first.",
    TablesResponse,
)
_TABLE = describe_response("The table.", TableDetailsResponse)
_DEFINITIONS = describe_response("The definitions.", DefinitionsResponse)
_SUGGESTIONS = describe_response("At most 8 questions.", SuggestionsResponse)


def build_schema_router(schema: SchemaService) -> APIRouter:
    """The routes."""
    router = APIRouter()

    @router.get("/databases", summary="List the databases", responses=_DATABASES)
    async def list_databases(principal: Caller) -> Response:
        return render_model(await schema.list_databases(principal))

    @router.get("/databases/{database}/tables", summary="Search the tables", responses=_TABLES)
    async def find_tables(
        database: str, principal: Caller, search: Search = "", after: After = "", limit: Limit = 50
    ) -> Response:
        return render_model(await schema.find_tables(database, search, principal, after, limit))

    # A name may contain slashes.
    @router.get(
        "/databases/{database}/tables/{table:path}", summary="Describe a table", responses=_TABLE
    )
    async def describe_table(database: str, table: str, principal: Caller) -> Response:
        return render_model(await schema.describe_table(database, table, principal))

    @router.get(
        "/databases/{database}/definitions", summary="List the definitions", responses=_DEFINITIONS
    )
    async def list_definitions(database: str, principal: Caller) -> Response:
        return render_model(await schema.list_definitions(database, principal))

    @router.get(
        "/databases/{database}/suggestions", summary="Suggest questions", responses=_SUGGESTIONS
    )
    async def suggest(database: str, principal: Caller) -> Response:
        return render_model(await schema.suggest(database, principal))

    return router
