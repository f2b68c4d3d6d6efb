"""Anthropic's messages, through the ``anthropic`` client (``quorumsql[anthropic]``).

One request gives one answer, so K candidates are K requests. The interface has no seed and no
log-probabilities, so runs are not exactly repeatable. The model continues the given start of an
answer if it supports that; newer models refuse, which is found out once. Knows nothing of SQL.
"""

from __future__ import annotations

import logging
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from generation.engines.server import (
    CONNECT_S,
    OptionalFields,
    RequestRefused,
    ServerClient,
    build_nonsense,
    build_too_long,
    choose_stops,
    count_marks,
    estimate_tokens,
    extract_answer,
    read_api_key,
)
from nl2sql.deadline import Deadline
from nl2sql.errors import EngineUnavailable, QuorumError
from nl2sql.settings import ModelSettings
from nl2sql.types import Completions, SamplingRequest

_LOG = logging.getLogger("quorumsql")
_OWN_URL = "https://api.anthropic.com"
# Optional parts of a request. The assistant's message at its end is treated like a field.
_CONTINUATION, _TEMPERATURE, _STOPS = "assistant message", "temperature", "stop_sequences"
_MAX_TEMPERATURE = 1.0


class _Block(BaseModel):
    """A part of an answer; kinds other than ``text`` are ignored."""

    type: str
    text: str = ""


class _Usage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0


class _Answer(BaseModel):
    """One completion."""

    content: tuple[_Block, ...]
    usage: _Usage = _Usage()

    @property
    def text(self) -> str:
        """The model's text, without its thinking."""
        return "".join(block.text for block in self.content if block.type == "text")


class _Counted(BaseModel):
    input_tokens: Annotated[int, Field(ge=0)]


class AnthropicEngine:
    """A model of Anthropic, or behind a server with the same interface."""

    def __init__(self, settings: ModelSettings) -> None:
        """Connects at the first request. Raises SettingsError, EngineUnavailable."""
        key = read_api_key(settings)
        try:
            import anthropic
        except ImportError as error:
            raise EngineUnavailable(
                f"The anthropic client cannot be imported: {error}",
                hint="Install quorumsql[anthropic].",
            ) from error
        self._settings = settings
        client = anthropic.AsyncAnthropic(
            base_url=settings.base_url.rstrip("/").removesuffix("/v1") or _OWN_URL,
            # Without a key the client would search for one in the environment.
            api_key=key or "none",
            timeout=anthropic.Timeout(settings.timeout_ms / 1000, connect=CONNECT_S),
            max_retries=settings.retries,
        )
        self._server = ServerClient(settings, client, anthropic, anthropic.AnthropicError)
        self._fields = OptionalFields()

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` completions, or those that are finished at the time limit.

        Raises PromptTooLong, EngineUnavailable; SettingsError for a key, address or model name that
        the server does not accept.
        """
        max_tokens = await self._find_room(request)
        deadline = Deadline.after(request.time_limit_s)
        # The first request runs alone and finds out what the server refuses.
        answers = [await self._complete(request, max_tokens)]
        others = await deadline.gather(
            [self._complete(request, max_tokens) for _ in range(1, request.k)],
            lambda _: True,
            has_enough=True,
        )
        answers += [other for other in others if other is not None]
        return Completions(
            texts=tuple(answer.text for answer in answers),
            prompt_tokens=sum(answer.usage.input_tokens for answer in answers),
            completion_tokens=sum(answer.usage.output_tokens for answer in answers),
        )

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """An upper bound for each text, since a request for each would take too long."""
        return tuple(map(estimate_tokens, texts))

    async def speed(self) -> None:
        """Unknown: measuring a remote server may cost money."""

    async def requests_in_flight(self) -> int:
        """The number of HTTP requests that wait for an answer."""
        return self._server.in_flight

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("engine", problem),)``, empty if the server has the model."""
        try:
            await self._server.request(f"/v1/models/{self._settings.served_name}", quick=True)
        except RequestRefused as refusal:
            return (("engine", str(refusal.error)),)
        except QuorumError as error:
            return (("engine", str(error)),)
        return (("engine", ""),)

    def check_health(self) -> None:
        """Never raises: a restart would not help, since the server is remote."""

    async def close(self) -> None:
        """Closes the connections."""
        await self._server.close()

    async def _find_room(self, request: SamplingRequest) -> int:
        """The number of tokens that the answer may have. Raises PromptTooLong."""
        messages = [message.content for message in request.prompt.messages]
        # A token is at least one byte, so most prompts need no exact count.
        most = sum(len(text.encode()) for text in (*messages, request.answer_start))
        window = self._settings.max_model_len
        if most + count_marks(messages) + request.max_tokens <= window:
            return request.max_tokens
        body = {"model": self._settings.served_name, **_build_chat(request, continued=False)}
        try:
            answer = await self._server.request("/v1/messages/count_tokens", body)
            tokens = _Counted.model_validate(answer).input_tokens
        except RequestRefused as refusal:
            raise refusal.error from refusal
        except ValidationError as error:
            raise build_nonsense(self._settings) from error
        room = window - tokens
        if room < 1:
            raise build_too_long(f"The prompt has {tokens} tokens, the model may take {window}.")
        return min(request.max_tokens, room)

    async def _complete(self, request: SamplingRequest, max_tokens: int) -> _Answer:
        async def send(fields: frozenset[str]) -> _Answer:
            continued = _CONTINUATION in fields
            optional: dict[str, Any] = {
                _TEMPERATURE: min(request.temperature, _MAX_TEMPERATURE),
                _STOPS: list(request.stop if continued else choose_stops(request)),
            }
            body = {
                "model": self._settings.served_name,
                "max_tokens": max_tokens,
                **_build_chat(request, continued=continued),
                **{name: value for name, value in optional.items() if name in fields},
            }
            answer = await self._server.request("/v1/messages", body)
            try:
                read = _Answer.model_validate(answer)
            except ValidationError as error:
                raise build_nonsense(self._settings) from error
            if continued:
                return read
            block = _Block(type="text", text=extract_answer(read.text, request))
            return read.model_copy(update={"content": (block,)})

        wanted = {_TEMPERATURE, _STOPS} | ({_CONTINUATION} if request.answer_start else set())
        return await self._fields.send(frozenset(wanted), send)


def _build_chat(request: SamplingRequest, *, continued: bool) -> dict[str, Any]:
    """The messages, with the system message in a separate field."""
    system = [message.content for message in request.prompt.messages if message.role == "system"]
    messages = [
        {"role": message.role, "content": message.content}
        for message in request.prompt.messages
        if message.role != "system"
    ]
    if continued:
        # The server refuses white space at the end of the last message.
        messages.append({"role": "assistant", "content": request.answer_start.rstrip()})
    return {"messages": messages} | ({"system": "\n\n".join(system)} if system else {})
