"""Anthropic's messages, through the ``anthropic`` client (``quorumsql[anthropic]``).

One request gives one answer, so K candidates are K requests. The interface has no seed, so runs are
not exactly repeatable. Newer models refuse to continue the given start of an answer, so it is cut
out of a whole answer. Knows nothing of SQL.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from generation.engines.server import ServerEngine, choose_stops, extract_answer
from generation.gathering import gather_until
from nl2sql.deadline import Deadline
from nl2sql.errors import EngineUnavailable
from nl2sql.settings import ModelSettings
from nl2sql.types import Completions, SamplingRequest

_OWN_URL = "https://api.anthropic.com"
# Optional parts of a request.
_TEMPERATURE, _STOPS = "temperature", "stop_sequences"
_MAX_TEMPERATURE = 1.0


class _Block(BaseModel):
    """A part of an answer; kinds other than ``text`` are ignored."""

    type: str
    text: str = ""


class _MessageUsage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0


class _Answer(BaseModel):
    """One completion."""

    content: tuple[_Block, ...]
    usage: _MessageUsage = _MessageUsage()

    @property
    def text(self) -> str:
        """The model's text, without its thinking."""
        return "".join(block.text for block in self.content if block.type == "text")


class _Counted(BaseModel):
    input_tokens: Annotated[int, Field(ge=0)]


class _KnownModel(BaseModel):
    """A model that the server has."""


class AnthropicEngine(ServerEngine):
    """A model of Anthropic, or behind a server with the same interface."""

    optional_fields = (_TEMPERATURE, _STOPS)

    def __init__(self, settings: ModelSettings) -> None:
        """Connects at the first request. Raises SettingsError, EngineUnavailable."""
        try:
            import anthropic
        except ImportError as error:
            raise EngineUnavailable(
                f"The anthropic client cannot be imported: {error}",
                hint="Install quorumsql[anthropic].",
            ) from error
        url = settings.base_url.rstrip("/").removesuffix("/v1") or _OWN_URL
        super().__init__(
            settings, anthropic, anthropic.AsyncAnthropic, url, anthropic.AnthropicError
        )

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` completions, or those that are finished at the time limit.

        Raises PromptTooLong, EngineUnavailable; SettingsError for a key, address or model name that
        the server does not accept.
        """
        max_tokens = await self._find_room(request)
        deadline = Deadline.after(request.time_limit_s)
        # The first request runs alone and finds out what the server refuses.
        answers = [await self._complete(request, max_tokens)]
        others = await gather_until(
            deadline,
            [self._complete(request, max_tokens) for _ in range(1, request.k)],
            has_enough=True,
        )
        answers += [other for other in others if other is not None]
        return Completions(
            texts=tuple(answer.text for answer in answers),
            prompt_tokens=sum(answer.usage.input_tokens for answer in answers),
            completion_tokens=sum(answer.usage.output_tokens for answer in answers),
        )

    async def _describe_problem(self) -> str:
        await self._read(_KnownModel, f"/v1/models/{self._settings.name}", quick=True)
        return ""

    async def _count_prompt(self, request: SamplingRequest) -> int:
        body = {"model": self._settings.name, **_build_chat(request)}
        return (await self._read(_Counted, "/v1/messages/count_tokens", body)).input_tokens

    async def _complete(self, request: SamplingRequest, max_tokens: int) -> _Answer:
        async def send(fields: frozenset[str]) -> _Answer:
            optional: dict[str, Any] = {
                _TEMPERATURE: min(request.temperature, _MAX_TEMPERATURE),
                _STOPS: list(choose_stops(request)),
            }
            body = {
                "model": self._settings.name,
                "max_tokens": max_tokens,
                **_build_chat(request),
                **{name: value for name, value in optional.items() if name in fields},
            }
            read = await self._read(_Answer, "/v1/messages", body)
            block = _Block(type="text", text=extract_answer(read.text, request))
            return read.model_copy(update={"content": (block,)})

        return await self._fields.send(frozenset({_TEMPERATURE, _STOPS}), send)


def _build_chat(request: SamplingRequest) -> dict[str, Any]:
    """The messages, with the system message in a separate field."""
    system = [message.content for message in request.prompt.messages if message.role == "system"]
    messages = [
        {"role": message.role, "content": message.content}
        for message in request.prompt.messages
        if message.role != "system"
    ]
    return {"messages": messages} | ({"system": "\n\n".join(system)} if system else {})
