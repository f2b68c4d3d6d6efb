"""The client that blocks: for scripts, notebooks and the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal

import httpx

from quorumsql import calls, wire
from quorumsql.browsing import Browsing
from quorumsql.contract.answers import AnsweredResponse, QueryResponse
from quorumsql.contract.events import AnswerEvent, Event, ProgressEvent
from quorumsql.contract.feedback import FeedbackRequest, FeedbackResponse
from quorumsql.contract.requests import QueryRequest
from quorumsql.contract.status import StatusResponse
from quorumsql.contract.translations import TranslateResponse, read_translation
from quorumsql.errors import Unavailable


class Client(Browsing):
    """Asks a service. Every method raises QuorumError; see ``quorumsql.errors``.

    >>> with Client("http://localhost:8000") as client:
    ...     answer = client.ask("How many employees are active?")  # doctest: +SKIP

    ``transport`` takes the place of the network.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = wire.find_url(url)
        self._http = httpx.Client(
            base_url=self.url,
            headers=wire.build_headers(wire.find_token(token)),
            timeout=wire.SHORT_TIMEOUT,
            transport=transport,
        )

    def ask(
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
        for event in self.stream(question, **options):
            if isinstance(event, AnswerEvent):
                return event.answer
            show(event)
        raise Unavailable(f"The service at {self.url} sent no answer.", hint="Ask again.")

    def stream(self, question: str | QueryRequest, **options: Any) -> Iterator[Event]:
        """What happens while the question is answered; an AnswerEvent comes last."""
        request = wire.build_request(question, options)
        with (
            self._reach(),
            self._http.stream(
                "POST",
                "/query",
                json=request.model_dump(),
                headers={"Accept": wire.STREAM_OR_JSON},
                timeout=wire.STREAM_TIMEOUT,
            ) as response,
        ):
            if not response.headers.get("content-type", "").startswith(wire.EVENT_STREAM):
                response.read()
                yield AnswerEvent(answer=wire.read_answer(wire.read_json(response)))
                return
            reader = wire.EventReader(self.url)
            for piece in response.iter_bytes():
                yield from reader.feed(piece)
            reader.end()

    def translate(self, question: str | QueryRequest, **options: Any) -> TranslateResponse:
        """The SQL without its rows; the options are those of ``ask``."""
        request = wire.build_request(question, options)
        body = wire.read_json(
            self._send(
                "POST", "/translate", json=request.model_dump(), timeout=wire.ENDLESS_TIMEOUT
            )
        )
        return read_translation(body)

    def follow(self, query_id: str) -> Iterator[Event]:
        """The events of a question that was asked elsewhere, from the first."""
        with (
            self._reach(),
            self._http.stream(
                "GET", f"/queries/{query_id}/events", timeout=wire.STREAM_TIMEOUT
            ) as response,
        ):
            if not response.is_success:
                response.read()
                raise wire.translate(response)
            reader = wire.EventReader(self.url)
            for piece in response.iter_bytes():
                yield from reader.feed(piece)

    def export(
        self, question: str | QueryRequest, media_type: str, **options: Any
    ) -> wire.Export | wire.NoRows:
        """The rows of the answer as ``media_type``, such as ``text/csv``."""
        request = wire.build_request(question, options)
        return wire.read_export(
            self._send(
                "POST",
                "/query",
                json=request.model_dump(),
                headers={"Accept": media_type},
                timeout=wire.ENDLESS_TIMEOUT,
            )
        )

    def rate(
        self,
        answer: AnsweredResponse,
        verdict: Literal["right", "wrong"],
        correction: str | None = None,
    ) -> FeedbackResponse:
        """Says whether an answer is right; with a ``correction``, the query that is."""
        return self.feedback(calls.build_feedback(answer, verdict, correction))

    def feedback(self, request: FeedbackRequest) -> FeedbackResponse:
        """Sends feedback; what came of it."""
        response = self._send("POST", "/feedback", json=request.model_dump())
        return FeedbackResponse.model_validate(wire.read_json(response))

    def forget(self, session: str) -> int:
        """Forgets a conversation; how many questions of it were kept."""
        return int(wire.read_json(self._send("DELETE", f"/sessions/{session}"))["turns"])

    def status(self) -> StatusResponse:
        """Whether the service is ready, part by part, and its figures; also if it is not ready."""
        return wire.read_status(self._send("GET", "/readyz"))

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        with self._reach():
            return self._http.request(method, path, **options)

    @contextmanager
    def _reach(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise wire.build_unreachable(self.url, error) from error
