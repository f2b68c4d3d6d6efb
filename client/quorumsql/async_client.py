"""The same client for programs with an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal

import httpx

from quorumsql import calls, wire
from quorumsql.async_browsing import AsyncBrowsing
from quorumsql.contract.answers import AnsweredResponse, QueryResponse
from quorumsql.contract.events import AnswerEvent, Event, ProgressEvent
from quorumsql.contract.feedback import FeedbackRequest, FeedbackResponse
from quorumsql.contract.requests import QueryRequest
from quorumsql.contract.status import StatusResponse
from quorumsql.contract.translations import TranslateResponse, read_translation
from quorumsql.errors import Unavailable


class AsyncClient(AsyncBrowsing):
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
        self.url = wire.find_url(url)
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=wire.build_headers(wire.find_token(token)),
            timeout=wire.SHORT_TIMEOUT,
            transport=transport,
        )

    async def ask(
        self,
        question: str | QueryRequest,
        *,
        show: Callable[[ProgressEvent], None] = lambda _: None,
        **options: Any,
    ) -> QueryResponse:
        """The answer, however long it takes.

        ``options`` are the fields of QueryRequest: database, tables, k, seed, max_rows, evidence,
        session, picked, answer_text, trace. ``show`` is called with what happens meanwhile.
        """
        async for event in self.stream(question, **options):
            if isinstance(event, AnswerEvent):
                return event.answer
            show(event)
        raise Unavailable(f"The service at {self.url} sent no answer.", hint="Ask again.")

    async def stream(self, question: str | QueryRequest, **options: Any) -> AsyncIterator[Event]:
        """What happens while the question is answered; an AnswerEvent comes last."""
        request = wire.build_request(question, options)
        with self._reach():
            async with self._http.stream(
                "POST",
                "/query",
                json=request.model_dump(),
                headers={"Accept": wire.STREAM_OR_JSON},
                timeout=wire.STREAM_TIMEOUT,
            ) as response:
                if not response.headers.get("content-type", "").startswith(wire.EVENT_STREAM):
                    await response.aread()
                    yield AnswerEvent(answer=wire.read_answer(wire.read_json(response)))
                    return
                reader = wire.EventReader(self.url)
                async for piece in response.aiter_bytes():
                    for event in reader.feed(piece):
                        yield event
                reader.end()

    async def translate(self, question: str | QueryRequest, **options: Any) -> TranslateResponse:
        """The SQL without its rows; the options are those of ``ask``."""
        request = wire.build_request(question, options)
        body = wire.read_json(
            await self._send(
                "POST", "/translate", json=request.model_dump(), timeout=wire.ENDLESS_TIMEOUT
            )
        )
        return read_translation(body)

    async def follow(self, query_id: str) -> AsyncIterator[Event]:
        """The events of a question that was asked elsewhere, from the first."""
        with self._reach():
            async with self._http.stream(
                "GET", f"/queries/{query_id}/events", timeout=wire.STREAM_TIMEOUT
            ) as response:
                if not response.is_success:
                    await response.aread()
                    raise wire.translate(response)
                reader = wire.EventReader(self.url)
                async for piece in response.aiter_bytes():
                    for event in reader.feed(piece):
                        yield event

    async def export(
        self, question: str | QueryRequest, media_type: str, **options: Any
    ) -> wire.Export | wire.NoRows:
        """The rows of the answer as ``media_type``, such as ``text/csv``."""
        request = wire.build_request(question, options)
        return wire.read_export(
            await self._send(
                "POST",
                "/query",
                json=request.model_dump(),
                headers={"Accept": media_type},
                timeout=wire.ENDLESS_TIMEOUT,
            )
        )

    async def rate(
        self,
        answer: AnsweredResponse,
        verdict: Literal["right", "wrong"],
        correction: str | None = None,
    ) -> FeedbackResponse:
        """Says whether an answer is right; with a ``correction``, the query that is."""
        return await self.feedback(calls.build_feedback(answer, verdict, correction))

    async def feedback(self, request: FeedbackRequest) -> FeedbackResponse:
        """Sends feedback; what came of it."""
        response = await self._send("POST", "/feedback", json=request.model_dump())
        return FeedbackResponse.model_validate(wire.read_json(response))

    async def forget(self, session: str) -> int:
        """Forgets a conversation; how many questions of it were kept."""
        return int(wire.read_json(await self._send("DELETE", f"/sessions/{session}"))["turns"])

    async def status(self) -> StatusResponse:
        """Whether the service is ready, part by part, and its figures; also if it is not ready."""
        return wire.read_status(await self._send("GET", "/readyz"))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        with self._reach():
            return await self._http.request(method, path, **options)

    @contextmanager
    def _reach(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise wire.build_unreachable(self.url, error) from error
