"""The client for programs with an event loop: every request that the service answers.

``quorumsql.client`` is the same for programs without one.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from quorumsql import wire
from quorumsql.contract.answers import (
    AnsweredResponse,
    QueryResponse,
    RunResponse,
    TranslateResponse,
    read_translation,
)
from quorumsql.contract.events import AnswerEvent, Event, ProgressEvent
from quorumsql.contract.feedback import (
    ExamResponse,
    FeedbackRequest,
    FeedbackResponse,
    ReviewResponse,
    TrialRequest,
    TrialResponse,
)
from quorumsql.contract.history import ConversationResponse, ConversationsResponse, DeletedResponse
from quorumsql.contract.identity import PrincipalResponse, StatusResponse
from quorumsql.contract.requests import QueryRequest
from quorumsql.contract.schema import (
    DatabasesResponse,
    DefinitionsResponse,
    SuggestionsResponse,
    TableDetailsResponse,
    TablesResponse,
)
from quorumsql.errors import InvalidRequest, Unavailable
from quorumsql.loopback import is_on_loopback

_DEFAULT_URL = "http://127.0.0.1:8000"

_Model = TypeVar("_Model", bound=BaseModel)
_quote = partial(quote, safe="", errors="replace")


class AsyncClient:
    """Asks a service. Every method raises QuorumError; see ``quorumsql.errors``.

    >>> async with AsyncClient("http://localhost:8000") as client:
    ...     answer = await client.ask("How many employees are active?")  # doctest: +SKIP

    ``transport`` takes the place of the network.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = (url or os.environ.get("QUORUMSQL_URL") or _DEFAULT_URL).rstrip("/")
        token = token or os.environ.get("QUORUMSQL_TOKEN")
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=wire.SHORT_TIMEOUT,
            transport=transport,
            trust_env=not is_on_loopback(self.url),
        )

    async def ask(
        self,
        /,
        question: str | QueryRequest,
        *,
        show: Callable[[ProgressEvent], None] = lambda _: None,
        **options: Any,
    ) -> QueryResponse:
        """The answer, however long it takes.

        ``options`` are the fields of QueryRequest: database, k, seed, max_rows, evidence,
        session, chosen_sql, answer_text, trace. ``show`` is called with what happens meanwhile.
        """
        answer: QueryResponse | None = None
        # To its end: a stream that is left is closed by a task of its own, some time later.
        async for event in self.stream(question, **options):
            if isinstance(event, AnswerEvent):
                answer = event.answer
            else:
                show(event)
        assert answer is not None, "a stream without an answer raises"
        return answer

    async def stream(self, /, question: str | QueryRequest, **options: Any) -> AsyncIterator[Event]:
        """What happens while the question is answered; an AnswerEvent comes last."""
        body = wire.build_question(question, options)
        with self._reach():
            async with self._http.stream(
                "POST",
                "/query",
                json=body,
                headers={"Accept": "text/event-stream"},
                timeout=wire.STREAM_TIMEOUT,
            ) as response:
                if not response.is_success:
                    await response.aread()
                    raise wire.translate(response)
                reader = wire.EventReader(self.url)
                async for piece in response.aiter_bytes():
                    for event in reader.feed(piece):
                        yield event
                reader.end()

    async def translate(self, /, question: str | QueryRequest, **options: Any) -> TranslateResponse:
        """The SQL without its rows; the options are those of ``ask``."""
        return wire.read(read_translation, await self._ask("/translate", question, options))

    async def export(
        self, /, question: str | QueryRequest, media_type: str, **options: Any
    ) -> wire.Export | wire.NoRows:
        """The rows of the answer as ``media_type``, such as ``text/csv``."""
        return wire.read_export(
            await self._ask("/query", question, options, headers={"Accept": media_type})
        )

    async def rate(
        self,
        answer: QueryResponse,
        verdict: Literal["right", "wrong"],
        correction: str | None = None,
        parameters: list[str] | None = None,
    ) -> FeedbackResponse:
        """Says whether an answer is right, even none; with a ``correction``, the query that is.

        ``parameters`` are those of the response to the same feedback, by name, that a reviewer
        marks as values that may be others.
        """
        body = wire.build_body(
            FeedbackRequest,
            question=answer.rewritten or answer.question,
            sql=answer.sql if isinstance(answer, AnsweredResponse) else "",
            database=answer.database,
            verdict=verdict,
            correction=correction,
            parameters=parameters,
        )
        return await self._call(FeedbackResponse, "POST", "/feedback", json=body)

    async def withdraw_feedback(self, id_: str) -> None:
        """Takes back feedback by the ``id`` of its response, with the example that it gave."""
        wire.check(await self._send("DELETE", f"/feedback/{_quote(id_)}"))

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
        asked = {"verdict": verdict, "state": state, "database": database}
        return await self._get(ReviewResponse, "/feedback", **asked, after=after, limit=limit)

    async def finish_review(self, id_: str) -> None:
        """Marks feedback as done."""
        wire.check(await self._send("POST", f"/feedback/{_quote(id_)}/done"))

    async def exam(self, id_: str) -> ExamResponse:
        """The questions with which the fix of this feedback is tried."""
        return await self._get(ExamResponse, f"/feedback/{_quote(id_)}/exam")

    async def try_fix(self, id_: str, fix: TrialRequest) -> TrialResponse:
        """What the question of this feedback, or one of the exam, gets while the fix holds."""
        path, body = f"/feedback/{_quote(id_)}/trial", fix.model_dump()
        return await self._call(
            TrialResponse, "POST", path, json=body, timeout=wire.ENDLESS_TIMEOUT
        )

    async def status(self) -> StatusResponse:
        """Whether the service is ready, part by part; also if it is not ready."""
        return wire.read_status(await self._send("GET", "/readyz"))

    async def me(self) -> PrincipalResponse:
        """Who asks, with roles, limits, and what a policy hides."""
        return await self._get(PrincipalResponse, "/me")

    async def databases(self) -> DatabasesResponse:
        """The databases that may be asked."""
        return await self._get(DatabasesResponse, "/databases")

    async def tables(
        self, database: str, search: str = "", *, after: str = "", limit: int = 50
    ) -> TablesResponse:
        """A page of the tables that match all words of ``search``; ``after`` is ``next``."""
        path = f"/databases/{_quote(database)}/tables"
        return await self._get(TablesResponse, path, search=search, after=after, limit=limit)

    async def table(self, database: str, name: str) -> TableDetailsResponse:
        """One table with its columns and keys; ``name`` with its schema."""
        path = f"/databases/{_quote(database)}/tables/{_quote(name, safe='/')}"
        return await self._get(TableDetailsResponse, path)

    async def definitions(self, database: str) -> DefinitionsResponse:
        """The measures, dimensions and filters of the semantic layer."""
        return await self._get(DefinitionsResponse, f"/databases/{_quote(database)}/definitions")

    async def suggestions(self, database: str) -> list[str]:
        """Questions that can be asked."""
        path = f"/databases/{_quote(database)}/suggestions"
        return (await self._get(SuggestionsResponse, path)).questions

    async def run(
        self, sql: str, *, database: str | None = None, max_rows: int | None = None
    ) -> RunResponse:
        """The rows of a query."""
        body = {"sql": sql, "database": database, "max_rows": max_rows}
        return await self._call(RunResponse, "POST", "/run", json=body)

    async def conversations(
        self, search: str = "", *, after: str = "", limit: int = 50
    ) -> ConversationsResponse:
        """A page of your conversations, the latest first; ``after`` is ``next``."""
        return await self._get(
            ConversationsResponse, "/conversations", search=search, after=after, limit=limit
        )

    async def conversation(self, id_: str) -> ConversationResponse:
        """One of them with its questions."""
        return await self._get(ConversationResponse, f"/conversations/{_quote(id_)}")

    async def delete_conversation(self, id_: str) -> DeletedResponse:
        """Deletes a conversation, with what follow-up questions are completed from."""
        # An empty id would delete all of them.
        if not id_:
            raise InvalidRequest("Name the conversation.", field="id")
        return await self._call(DeletedResponse, "DELETE", f"/conversations/{_quote(id_)}")

    async def delete_conversations(self) -> DeletedResponse:
        """Deletes all your conversations."""
        return await self._call(DeletedResponse, "DELETE", "/conversations")

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _ask(
        self, path: str, question: str | QueryRequest, options: dict[str, Any], **more: Any
    ) -> httpx.Response:
        body = wire.build_question(question, options)
        return await self._send("POST", path, json=body, timeout=wire.ENDLESS_TIMEOUT, **more)

    async def _get(self, model: type[_Model], path: str, **parameters: Any) -> _Model:
        """The model at ``path``; parameters without a value are left out."""
        given = {name: value for name, value in parameters.items() if value not in ("", None)}
        return await self._call(model, "GET", path, params=given)

    async def _call(self, model: type[_Model], method: str, path: str, **options: Any) -> _Model:
        return wire.read(model.model_validate, await self._send(method, path, **options))

    async def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        with self._reach():
            return await self._http.request(method, path, **options)

    @contextmanager
    def _reach(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            raise InvalidRequest("The request has invalid characters.", field="request") from error
        except httpx.HTTPError as error:
            raise Unavailable(
                f"No service answers at {self.url} ({type(error).__name__}).",
                hint="Start one with `quorumsql serve`, or ask with --in-process.",
            ) from error
