"""``/conversations``: what a principal asked, to find again, continue and delete.

Knows nothing of FastAPI. A conversation's id is the session of its questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from nl2sql.types import Principal
from quorumsql.contract.history import (
    ConversationEntryResponse,
    ConversationResponse,
    ConversationsResponse,
    ConversationTurnResponse,
    DeletedResponse,
)
from retrieval.conversations import GuardedConversations, KeptConversation, KeptTurn
from serve_app.service.accounting import Accounting
from serve_app.service.rendering import copy_fields
from serve_app.service.request_checks import MOST_SEARCH_CHARS, NotFound, check_session, check_text
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class HistoryService:
    """The conversations of the principal who asks for them. All methods raise Unavailable."""

    settings: Settings
    conversations: GuardedConversations
    accounting: Accounting

    async def list_latest(
        self, principal: Principal, *, search: str, after: str, most: int
    ) -> ConversationsResponse:
        """A page of conversations, the latest first. Raises InvalidRequest."""
        search = check_text("search", search, MOST_SEARCH_CHARS)
        databases = self.settings.database_names(principal)
        async with self.accounting.note("list_conversations", principal):
            page, following = await self.conversations.list_latest(
                principal, databases, search=search, after=after, most=most
            )
        return ConversationsResponse(
            conversations=[ConversationEntryResponse(**_describe(each)) for each in page],
            next=following or None,
        )

    async def load(self, principal: Principal, id_: str) -> ConversationResponse:
        """One conversation. Raises InvalidRequest, NotFound, PolicyError."""
        session = check_session(id_)
        databases = self.settings.database_names(principal)
        async with self.accounting.note(f"conversation: {session}", principal):
            whole = await self.conversations.load(principal, databases, session)
            if whole is None:
                raise NotFound("There is no such conversation.", field="id")
        return ConversationResponse(
            **_describe(whole.conversation),
            turns=[
                _render_turn(turn, is_withheld=turn.number in whole.withheld)
                for turn in whole.turns
            ],
        )

    async def delete(self, principal: Principal, id_: str = "") -> DeletedResponse:
        """Deletes one conversation, or all of the principal's.

        Those of databases that it may not ask any more are deleted too. Raises InvalidRequest.
        """
        session = check_session(id_) if id_ else ""
        text = f"delete_conversations: {session or 'all'}"
        async with self.accounting.note(text, principal):
            conversations, questions = await self.conversations.delete(principal, session)
        return DeletedResponse(conversations=conversations, questions=questions)


def render_time(moment: datetime) -> str:
    """The time in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _describe(kept: KeptConversation) -> dict[str, object]:
    return {
        "id": kept.session,
        "title": kept.title,
        "database": kept.database,
        "asked_at": render_time(kept.asked_at),
        "questions": kept.questions,
    }


def _render_turn(turn: KeptTurn, *, is_withheld: bool) -> ConversationTurnResponse:
    return copy_fields(
        ConversationTurnResponse,
        turn,
        id=str(turn.number),
        rewritten=turn.rewritten or None,
        is_withheld=is_withheld,
        asked_at=render_time(turn.asked_at),
    )
