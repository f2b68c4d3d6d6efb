"""Answers one question of a job by a running service, after the questions of people."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx

from nl2sql.errors import LimitReached, QuorumError, Unavailable
from nl2sql.settings import Settings
from quorumsql import wire
from serve_app.batch.asking import describe_for_openai
from serve_app.batch.job import JobSpec
from serve_app.batch.patience import Patience
from serve_app.batch.questions import BatchQuestion, build_request, read_chat
from serve_app.batch.results import (
    ERROR,
    ResultFormat,
    Revision,
    Row,
    build_error_row,
    build_openai_response,
    build_row,
)

PRIORITY = {"QuorumSQL-Priority": "batch"}
_TRY_AGAIN = (429, 503)
_COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class ServiceAsker:
    """The service that ``http`` reaches; ``environ`` holds the tokens of principals."""

    spec: JobSpec
    settings: Settings
    http: httpx.AsyncClient
    patience: Patience
    environ: Mapping[str, str]

    async def ask(self, question: BatchQuestion) -> Row:
        """See Asker."""
        name = question.principal or self.spec.submitter
        start = time.perf_counter()
        try:
            token = self.settings.identity.read_token(name, self.environ)
            if self.spec.result_format == ResultFormat.OPENAI:
                return await self._complete(question, name, token)
            request, _ = build_request(
                question,
                self.settings,
                k=self.spec.k,
                seed=self.spec.seed,
                max_rows=self.spec.max_rows or self.settings.limits.rows,
            )
            start = time.perf_counter()
            answered = await self._send("/query", token, request.model_dump())
            return build_row(
                question,
                name,
                wire.read_answer(wire.read_json(answered)),
                seconds=time.perf_counter() - start,
                kept_rows=self.spec.kept_rows,
                revision=Revision(),
            )
        except Exception as error:  # one question must not end the job
            row = build_error_row(question, name, error, seconds=time.perf_counter() - start)
            return row | describe_for_openai(self.spec, error)

    async def _complete(self, question: BatchQuestion, name: str, token: str) -> Row:
        """The row of a chat completion, which does not tell the outcome and the query."""
        if question.chat:
            chat = read_chat(question).model_dump(exclude_unset=True)
            chat.pop("stream", None)
            chat.pop("stream_options", None)
        else:
            message = {"role": "user", "content": question.question}
            chat = {"model": question.database or "quorumsql", "messages": [message]}
        start = time.perf_counter()
        response = await self._send("/v1/chat/completions", token, chat)
        body = response.json()
        row = {
            "id": question.id,
            "question": question.question,
            "principal": name,
            "database": question.database,
            "seconds": round(time.perf_counter() - start, 3),
            "response": build_openai_response(
                response.status_code, f"req_{secrets.token_hex(12)}", body
            ),
        }
        if not response.is_success:
            error = body.get("error", {})
            return row | {
                "outcome": ERROR,
                "reason": error.get("message"),
                "error_class": error.get("code") or error.get("type"),
            }
        usage = body.get("usage", {})
        return row | {
            "outcome": _COMPLETED,
            "prompt_tokens": usage.get("prompt_tokens"),
            "completion_tokens": usage.get("completion_tokens"),
        }

    async def _send(self, path: str, token: str, body: Mapping[str, Any]) -> httpx.Response:
        """The response of a service that answers at all. Raises LimitReached, Unavailable."""

        async def attempt() -> httpx.Response:
            try:
                response = await self.http.post(
                    path, json=body, headers={**PRIORITY, **wire.build_headers(token)}
                )
            except httpx.HTTPError as error:
                raise wire.build_unreachable(str(self.http.base_url), error) from error
            if response.status_code in _TRY_AGAIN:
                raise _build_error(response)
            return response

        return await self.patience.ask("service", attempt)


def _build_error(response: httpx.Response) -> QuorumError:
    """The error of a service that is busy or unavailable, in the form of either interface."""
    with suppress(ValueError, LookupError, TypeError):
        message = response.json()["error"]["message"]
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            return Unavailable(message)
        seconds = response.headers.get("retry-after", "1")
        return LimitReached(message, retry_after_s=float(seconds))
    return wire.translate(response)


@asynccontextmanager
async def open_service(
    url: str, spec: JobSpec, settings: Settings, *, questions_at_once: int
) -> AsyncIterator[ServiceAsker]:
    """Asks the service at ``url`` until the block ends."""
    limits = httpx.Limits(max_connections=questions_at_once)
    async with httpx.AsyncClient(
        base_url=url, timeout=wire.ENDLESS_TIMEOUT, limits=limits
    ) as client:
        yield ServiceAsker(spec, settings, client, Patience(), os.environ)
