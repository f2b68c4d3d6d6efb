"""What the asynchronous client can do besides asking: data, history, shares, review, status."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, TypeVar

import httpx
from pydantic import BaseModel

from quorumsql import calls, wire
from quorumsql.contract.answers import AnsweredResponse
from quorumsql.contract.history import (
    ConversationEntryResponse,
    ConversationResponse,
    ConversationsResponse,
    DeletedResponse,
    OwnSharesResponse,
    ShareResponse,
)
from quorumsql.contract.identity import PrincipalResponse
from quorumsql.contract.review import ReviewResponse
from quorumsql.contract.runs import RunResponse
from quorumsql.contract.schema import (
    DatabasesResponse,
    DefinitionsResponse,
    TableDetailsResponse,
    TablesResponse,
)
from quorumsql.contract.service_status import ServiceStatusResponse

_Model = TypeVar("_Model", bound=BaseModel)


class AsyncBrowsing(ABC):
    """The methods."""

    @abstractmethod
    async def _send(self, method: str, path: str, **options: object) -> httpx.Response:
        """The response to a request; the client itself knows how."""

    async def _call(self, call: calls.Call[_Model]) -> _Model:
        return call.read(await self._send(call.method, call.path, **call.options))

    async def me(self) -> PrincipalResponse:
        """Who asks, with roles, limits, and what a policy hides."""
        return await self._call(calls.me())

    async def databases(self) -> DatabasesResponse:
        """The databases that may be asked."""
        return await self._call(calls.databases())

    async def tables(
        self, database: str, search: str = "", *, after: str = "", limit: int = 50
    ) -> TablesResponse:
        """A page of the tables that match all words of ``search``; ``after`` is ``next``."""
        return await self._call(calls.tables(database, search, after, limit))

    async def table(self, database: str, name: str) -> TableDetailsResponse:
        """One table with its columns and keys; ``name`` with its schema."""
        return await self._call(calls.table(database, name))

    async def definitions(self, database: str) -> DefinitionsResponse:
        """The measures, dimensions and filters of the semantic layer."""
        return await self._call(calls.definitions(database))

    async def suggestions(self, database: str) -> list[str]:
        """Questions that can be asked."""
        return (await self._call(calls.suggestions(database))).questions

    async def run(
        self,
        sql: str = "",
        *,
        database: str | None = None,
        max_rows: int | None = None,
        share: str = "",
        reference: str = "",
    ) -> RunResponse:
        """The rows of a query, of a share, or of what a ``reference`` stands for."""
        return await self._call(calls.run(sql, database, max_rows, share, reference))

    async def export_run(
        self,
        sql: str = "",
        *,
        media_type: str = "text/csv",
        database: str | None = None,
        max_rows: int | None = None,
        share: str = "",
        reference: str = "",
        spreadsheet_safe: bool = False,
    ) -> wire.Export:
        """The rows of ``run`` as ``media_type``; the formats are those of ``export``."""
        call = calls.run(
            sql, database, max_rows, share, reference, spreadsheet_safe=spreadsheet_safe
        )
        headers = {"Accept": media_type}
        return wire.read_run_export(
            await self._send(call.method, call.path, **call.options, headers=headers)
        )

    async def format(self, sql: str, *, database: str | None = None) -> str:
        """The query on several lines."""
        return (await self._call(calls.format_query(sql, database))).sql

    async def conversations(
        self,
        search: str = "",
        *,
        starred: bool | None = None,
        after: str = "",
        limit: int = 50,
    ) -> ConversationsResponse:
        """A page of the own conversations, the latest first; ``after`` is ``next``."""
        return await self._call(calls.conversations(search, starred, after, limit))

    async def conversation(self, id_: str) -> ConversationResponse:
        """One of them with its questions."""
        return await self._call(calls.conversation(id_))

    async def change_conversation(
        self, id_: str, *, title: str | None = None, starred: bool | None = None
    ) -> ConversationEntryResponse:
        """Names or stars a conversation; what is None stays."""
        return await self._call(calls.change_conversation(id_, title, starred))

    async def delete_conversation(self, id_: str) -> DeletedResponse:
        """Deletes a conversation, with what follow-up questions are completed from."""
        return await self._call(calls.delete_conversation(id_))

    async def delete_conversations(self) -> DeletedResponse:
        """Deletes all own conversations."""
        return await self._call(calls.delete_conversations())

    async def share(self, answer: AnsweredResponse) -> str:
        """Shares the query of an answer; the share's id."""
        return (await self._call(calls.share(answer))).id

    async def shares(self, *, after: str = "", limit: int = 50) -> OwnSharesResponse:
        """A page of the own shares, the latest first; ``after`` is ``next``."""
        return await self._call(calls.shares(after, limit))

    async def shared(self, id_: str) -> ShareResponse:
        """A share; ``run(share=id_)`` gives its rows."""
        return await self._call(calls.shared(id_))

    async def end_share(self, id_: str) -> None:
        """Ends an own share."""
        await self._call(calls.end_share(id_))

    async def review(
        self,
        *,
        verdict: Literal["right", "wrong"] = "wrong",
        state: Literal["open", "done"] = "open",
        database: str = "",
        after: str = "",
        limit: int = 50,
    ) -> ReviewResponse:
        """A page of feedback, for reviewers; ``after`` is ``next``."""
        return await self._call(calls.review(verdict, state, database, after, limit))

    async def withdraw_feedback(self, id_: str) -> None:
        """Takes back feedback by the ``id`` of its response, with the example that it gave."""
        await self._call(calls.withdraw_feedback(id_))

    async def finish_review(self, id_: str) -> None:
        """Marks feedback as done."""
        await self._call(calls.finish_review(id_))

    async def service_status(self) -> ServiceStatusResponse:
        """Deployments, index, policies and errors, for operators; ``status`` is for everybody."""
        return await self._call(calls.service_status())
