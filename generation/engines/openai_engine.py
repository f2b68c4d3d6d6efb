"""Any server with OpenAI's chat completions, through the ``openai`` client.

vLLM's server is recognised by its ``/tokenize``; it continues the given start of an answer and
counts tokens exactly. Refusals of other servers are found out once: K completions of
one prompt then become K requests, with the seeds that vLLM gives the samples of one request (seed +
i). A cancelled call closes its connections, which ends its requests on the server. Knows nothing of
SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from generation.engines.server import (
    RequestRefused,
    ServerEngine,
    build_nonsense,
    choose_stops,
    estimate_prompt_tokens,
    extract_answer,
)
from generation.gathering import gather_until
from nl2sql.concurrency import gather_all
from nl2sql.deadline import Deadline
from nl2sql.errors import EngineUnavailable, SettingsError
from nl2sql.settings import ModelSettings
from nl2sql.types import Completions, SamplingRequest

# Optional fields, by the names in servers' error messages.
_MANY, _SEED, _TEMPERATURE = "n", "seed", "temperature"
# Newer models of OpenAI use another name for the limit and refuse this one.
_MAX_TOKENS = "max_tokens"
# Only for vLLM's server, by the field that it would name.
_CONTINUATION = "continue_final_message"


# The parts of a server's answers that are read; all other fields are ignored.


class _AnswerMessage(BaseModel):
    """The model's text, without thinking that the server returns separately."""

    content: str | None = None


class _Choice(BaseModel):
    """One completion."""

    message: _AnswerMessage


class _TokenUsage(BaseModel):
    """The numbers of tokens read and written."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(BaseModel):
    """The answer to a request: one or more completions."""

    choices: Annotated[tuple[_Choice, ...], Field(min_length=1)]
    usage: _TokenUsage = _TokenUsage()

    def cut(self, request: SamplingRequest) -> _Reply:
        """The reply with only the part of each text that continues ``request.answer_start``."""
        choices = []
        for choice in self.choices:
            text = extract_answer(choice.message.content or "", request)
            choices.append(choice.model_copy(update={"message": _AnswerMessage(content=text)}))
        return self.model_copy(update={"choices": tuple(choices)})


class _Tokenized(BaseModel):
    """The answer of vLLM's ``/tokenize``."""

    count: int
    max_model_len: int


class _Model(BaseModel):
    """A served model."""

    id: str


class _ModelList(BaseModel):
    """The answer of ``/models``."""

    data: tuple[_Model, ...]


class OpenAiEngine(ServerEngine):
    """A language model behind ``model.base_url``."""

    optional_fields = (_MANY, _MAX_TOKENS, _CONTINUATION, _SEED, _TEMPERATURE)

    def __init__(self, settings: ModelSettings) -> None:
        """Connects at the first request. Raises SettingsError, EngineUnavailable."""
        try:
            import openai
        except ImportError as error:
            raise EngineUnavailable(
                f"The openai client cannot be imported: {error}", hint="Install openai."
            ) from error
        super().__init__(
            settings, openai, openai.AsyncOpenAI, settings.base_url, openai.OpenAIError
        )
        self._root = settings.base_url.rstrip("/").removesuffix("/v1")
        self._is_vllm: bool | None = None

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` completions, or those that are finished at the time limit.

        The limit does not end a single request with several completions. Raises PromptTooLong,
        EngineUnavailable; SettingsError for a key, address or model name that the server does not
        accept.
        """
        is_vllm = await self._recognise()
        wanted = {_SEED, _TEMPERATURE, _MAX_TOKENS}
        wanted |= {_CONTINUATION} if is_vllm and request.answer_start else set()
        deadline = Deadline.after(request.time_limit_s)
        max_tokens = await self._find_room(request)
        replies: list[_Reply] = []
        if request.k > 1 and self._fields.choose(frozenset({_MANY})):
            first = await self._complete(request, frozenset({*wanted, _MANY}), max_tokens)
            if len(first.choices) < request.k:
                self._fields.refuse(_MANY)
            replies.append(first)
        drawn = sum(len(reply.choices) for reply in replies)
        numbers = range(drawn, request.k)
        others = await gather_until(
            deadline,
            [
                self._complete(request, frozenset(wanted), max_tokens, seed=request.seed + number)
                for number in numbers
            ],
            has_enough=bool(drawn),
        )
        replies += [other for other in others if other is not None]
        return self._join(request, replies)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The number of tokens of each text: the server's count, or else an upper bound."""
        if not await self._recognise():
            return await super().count_tokens(texts)
        bodies = [{"prompt": text, "add_special_tokens": False} for text in texts]
        return tuple(await gather_all(self._tokenize(body) for body in bodies))

    async def _describe_problem(self) -> str:
        answer = await self._request("/models", None, quick=True)
        try:
            names = [model.id for model in _ModelList.model_validate(answer).data]
        except ValidationError:
            # Some servers do not list models; this one does answer.
            return ""
        name = self._settings.name
        known = name in names or f"{name}:latest" in names
        return "" if known else f"no model {name!r} there, but {', '.join(names)}"

    # -- the server's abilities -----------------------------------------------------------------

    async def _recognise(self) -> bool:
        """Whether the server is vLLM's; found out once. Raises EngineUnavailable."""
        if self._is_vllm is None:
            body = {"prompt": "SELECT", "add_special_tokens": False}
            try:
                found = await self._ask_tokenizer(body, quick=True)
            except (RequestRefused, SettingsError):
                self._is_vllm = False
            else:
                self._is_vllm = True
                self._max_model_len = min(self._max_model_len, found.max_model_len)
        return self._is_vllm

    async def _count_prompt(self, request: SamplingRequest) -> int:
        if not self._is_vllm:
            return estimate_prompt_tokens(request)
        chat = self._build_chat(request, continued=bool(request.answer_start))
        return (await self._ask_tokenizer(chat)).count

    async def _tokenize(self, body: dict[str, Any]) -> int:
        try:
            return (await self._ask_tokenizer(body)).count
        except RequestRefused as refusal:
            raise refusal.error from refusal

    async def _ask_tokenizer(self, body: dict[str, Any], *, quick: bool = False) -> _Tokenized:
        body = {"model": self._settings.name, **body}
        answer = await self._request(f"{self._root}/tokenize", body, quick=quick)
        try:
            return _Tokenized.model_validate(answer)
        except ValidationError as error:
            # Other servers may have a different /tokenize.
            raise RequestRefused(build_nonsense(self._settings)) from error

    # -- requests -------------------------------------------------------------------------------

    async def _complete(
        self,
        request: SamplingRequest,
        wanted: frozenset[str],
        max_tokens: int,
        *,
        seed: int | None = None,
    ) -> _Reply:
        async def send(fields: frozenset[str]) -> _Reply:
            body = self._build_body(request, fields, max_tokens)
            if seed is not None and _SEED in fields:
                body[_SEED] = seed
            reply = await self._read(_Reply, "/chat/completions", body)
            return reply if _CONTINUATION in fields else reply.cut(request)

        return await self._fields.send(wanted, send)

    def _build_body(
        self, request: SamplingRequest, fields: frozenset[str], max_tokens: int
    ) -> dict[str, Any]:
        continued = _CONTINUATION in fields
        stops = request.stop if continued else choose_stops(request)
        limit = _MAX_TOKENS if _MAX_TOKENS in fields else "max_completion_tokens"
        body: dict[str, Any] = {
            "model": self._settings.name,
            **self._build_chat(request, continued=continued),
            limit: max_tokens,
        }
        if stops:
            body["stop"] = list(stops)
        optional: dict[str, Any] = {
            _MANY: request.k,
            _SEED: request.seed,
            _TEMPERATURE: request.temperature,
        }
        return body | {name: value for name, value in optional.items() if name in fields}

    @staticmethod
    def _build_chat(request: SamplingRequest, *, continued: bool) -> dict[str, Any]:
        messages = [
            {"role": message.role, "content": message.content}
            for message in request.prompt.messages
        ]
        if not continued:
            return {"messages": messages}
        messages.append({"role": "assistant", "content": request.answer_start})
        return {"messages": messages, _CONTINUATION: True, "add_generation_prompt": False}

    def _join(self, request: SamplingRequest, replies: Sequence[_Reply]) -> Completions:
        choices = [choice for reply in replies for choice in reply.choices][: request.k]
        return Completions(
            texts=tuple(choice.message.content or "" for choice in choices),
            prompt_tokens=sum(reply.usage.prompt_tokens for reply in replies),
            completion_tokens=sum(reply.usage.completion_tokens for reply in replies),
        )
