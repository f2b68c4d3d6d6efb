"""``/conversations``: the principal's own history."""

from __future__ import annotations

from fastapi import FastAPI, Response

from quorumsql.contract.history import (
    ConversationChange,
    ConversationEntryResponse,
    ConversationResponse,
    ConversationsResponse,
    DeletedResponse,
)
from serve_app.http.callers import Caller
from serve_app.http.route_answers import After, Limit, Search, describe_responses, render_model
from serve_app.service.history import HistoryService

_LIST = describe_responses(
    "A page of the principal's conversations, the latest first.", ConversationsResponse
)
_ONE = describe_responses("The conversation.", ConversationResponse, 404)
_CHANGED = describe_responses("The changed conversation.", ConversationEntryResponse, 404)
_DELETED = describe_responses(
    "How much was deleted, with what follow-up questions are completed from.", DeletedResponse
)


def add_history_routes(app: FastAPI, history: HistoryService) -> None:
    """Adds the routes."""

    @app.get("/conversations", summary="List the own conversations", responses=_LIST)
    async def list_conversations(
        principal: Caller,
        search: Search = "",
        starred: bool | None = None,
        after: After = "",
        limit: Limit = 50,
    ) -> Response:
        found = await history.list_latest(
            principal, search=search, starred=starred, after=after, most=limit
        )
        return render_model(found)

    @app.get("/conversations/{id}", summary="Show a conversation", responses=_ONE)
    async def show_conversation(id: str, principal: Caller) -> Response:  # noqa: A002
        return render_model(await history.load(principal, id))

    @app.patch("/conversations/{id}", summary="Name or star a conversation", responses=_CHANGED)
    async def change_conversation(
        id: str,  # noqa: A002
        body: ConversationChange,
        principal: Caller,
    ) -> Response:
        return render_model(await history.change(principal, id, body))

    @app.delete("/conversations/{id}", summary="Delete a conversation", responses=_DELETED)
    async def delete_conversation(id: str, principal: Caller) -> Response:  # noqa: A002
        return render_model(await history.delete(principal, id))

    @app.delete("/conversations", summary="Delete all own conversations", responses=_DELETED)
    async def delete_conversations(principal: Caller) -> Response:
        return render_model(await history.delete(principal))
