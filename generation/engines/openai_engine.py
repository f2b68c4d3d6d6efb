"""Any server with OpenAI's chat completions, through the ``openai`` client.

vLLM's server is recognised by its ``/tokenize``; it continues the given start of an answer and
counts tokens exactly. Refusals of other servers are found out once: K completions of
one prompt then become K requests, with the seeds that vLLM gives the samples of one request (seed +
i). A cancelled call closes its connections, which ends its requests on the server. Knows nothing of
SQL.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from generation.engines.openai_answers import ModelList, Reply, Tokenized
from generation.engines.server import (
    CONNECT_S,
    OptionalFields,
    RequestRefused,
    ServerClient,
    build_nonsense,
    build_too_long,
    choose_stops,
    count_marks,
    estimate_prompt_tokens,
    estimate_tokens,
    read_api_key,
)
from nl2sql.concurrency import gather_all
from nl2sql.deadline import Deadline
from nl2sql.errors import EngineUnavailable, QuorumError, SettingsError
from nl2sql.settings import ModelSettings
from nl2sql.types import Completions, SamplingRequest

_LOG = logging.getLogger("quorumsql")
# Optional fields, by the names in servers' error messages.
_MANY, _SEED, _LOGPROBS, _TEMPERATURE = "n", "seed", "logprobs", "temperature"
# Newer models of OpenAI use another name for the limit and refuse this one.
_MAX_TOKENS = "max_tokens"
# Only for vLLM's server, by the field that it would name.
_CONTINUATION = "continue_final_message"


class OpenAiEngine:
    """A language model behind ``model.base_url``."""

    def __init__(self, settings: ModelSettings) -> None:
        """Connects at the first request. Raises SettingsError, EngineUnavailable."""
        key = read_api_key(settings)
        try:
            import openai
        except ImportError as error:
            raise EngineUnavailable(
                f"The openai client cannot be imported: {error}", hint="Install openai."
            ) from error
        self._settings = settings
        client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            # The client requires a key; a server without keys ignores it.
            api_key=key or "none",
            timeout=openai.Timeout(settings.timeout_ms / 1000, connect=CONNECT_S),
            max_retries=settings.retries,
        )
        self._server = ServerClient(settings, client, openai, openai.OpenAIError)
        self._root = settings.base_url.rstrip("/").removesuffix("/v1")
        self._fields = OptionalFields()
        self._is_vllm: bool | None = None
        self._max_model_len = settings.max_model_len

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` completions, or those that are finished at the time limit.

        The limit does not end a single request with several completions. Raises PromptTooLong,
        EngineUnavailable; SettingsError for a key, address or model name that the server does not
        accept.
        """
        is_vllm = await self._recognise()
        wanted = {_SEED, _LOGPROBS, _TEMPERATURE, _MAX_TOKENS}
        wanted |= {_CONTINUATION} if is_vllm and request.answer_start else set()
        deadline = Deadline.after(request.time_limit_s)
        max_tokens = await self._find_room(request)
        replies: list[Reply] = []
        if request.k > 1 and self._fields.choose(frozenset({_MANY})):
            first = await self._complete(request, frozenset({*wanted, _MANY}), max_tokens)
            if len(first.choices) < request.k:
                self._fields.refuse(_MANY)
            replies.append(first)
        drawn = sum(len(reply.choices) for reply in replies)
        numbers = range(drawn, request.k)
        others = await deadline.gather(
            [
                self._complete(request, frozenset(wanted), max_tokens, seed=request.seed + number)
                for number in numbers
            ],
            lambda _: True,
            has_enough=bool(drawn),
        )
        replies += [other for other in others if other is not None]
        return self._read(request, replies)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The number of tokens of each text: the server's count, or else an upper bound."""
        if not await self._recognise():
            return tuple(map(estimate_tokens, texts))
        bodies = [{"prompt": text, "add_special_tokens": False} for text in texts]
        return tuple(await gather_all(self._tokenize(body) for body in bodies))

    async def speed(self) -> None:
        """Unknown: measuring a remote server may cost money."""

    async def requests_in_flight(self) -> int:
        """The number of HTTP requests that wait for an answer."""
        return self._server.in_flight

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("engine", problem),)``, empty if the server has the model."""
        try:
            answer = await self._server.request("/models", quick=True)
            names = [model.id for model in ModelList.model_validate(answer).data]
        except ValidationError:
            # Some servers do not list models; this one does answer.
            return (("engine", ""),)
        except RequestRefused as refusal:
            return (("engine", str(refusal.error)),)
        except QuorumError as error:
            return (("engine", str(error)),)
        name = self._settings.served_name
        known = name in names or f"{name}:latest" in names
        return (("engine", "" if known else f"no model {name!r} there, but {', '.join(names)}"),)

    def check_health(self) -> None:
        """Never raises: a restart would not help, since the server is remote."""

    async def close(self) -> None:
        """Closes the connections."""
        await self._server.close()

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

    async def _find_room(self, request: SamplingRequest) -> int:
        """The number of tokens that the answer may have. Raises PromptTooLong."""
        messages = [message.content for message in request.prompt.messages]
        # A token is at least one byte, so most prompts need no exact count.
        most = sum(len(text.encode()) for text in (*messages, request.answer_start))
        if most + count_marks(messages) + request.max_tokens <= self._max_model_len:
            return request.max_tokens
        tokens = (
            await self._tokenize(self._build_chat(request, continued=bool(request.answer_start)))
            if self._is_vllm
            else estimate_prompt_tokens(request)
        )
        room = self._max_model_len - tokens
        if room < 1:
            raise build_too_long(
                f"The prompt has {tokens} tokens, the model takes {self._max_model_len}."
            )
        return min(request.max_tokens, room)

    async def _tokenize(self, body: dict[str, Any]) -> int:
        try:
            return (await self._ask_tokenizer(body)).count
        except RequestRefused as refusal:
            raise refusal.error from refusal

    async def _ask_tokenizer(self, body: dict[str, Any], *, quick: bool = False) -> Tokenized:
        body = {"model": self._settings.served_name, **body}
        answer = await self._server.request(f"{self._root}/tokenize", body, quick=quick)
        try:
            return Tokenized.model_validate(answer)
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
    ) -> Reply:
        async def send(fields: frozenset[str]) -> Reply:
            body = self._build_body(request, fields, max_tokens)
            if seed is not None and _SEED in fields:
                body[_SEED] = seed
            answer = await self._server.request("/chat/completions", body)
            try:
                reply = Reply.model_validate(answer)
            except ValidationError as error:
                raise build_nonsense(self._settings) from error
            return reply if _CONTINUATION in fields else reply.cut(request)

        return await self._fields.send(wanted, send)

    def _build_body(
        self, request: SamplingRequest, fields: frozenset[str], max_tokens: int
    ) -> dict[str, Any]:
        continued = _CONTINUATION in fields
        stops = request.stop if continued else choose_stops(request)
        limit = _MAX_TOKENS if _MAX_TOKENS in fields else "max_completion_tokens"
        body: dict[str, Any] = {
            "model": self._settings.served_name,
            **self._build_chat(request, continued=continued),
            limit: max_tokens,
        }
        if stops:
            body["stop"] = list(stops)
        optional: dict[str, Any] = {
            _MANY: request.k,
            _SEED: request.seed,
            _LOGPROBS: True,
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

    def _read(self, request: SamplingRequest, replies: Sequence[Reply]) -> Completions:
        choices = [choice for reply in replies for choice in reply.choices][: request.k]
        logprobs = [choice.mean_logprob() for choice in choices]
        return Completions(
            texts=tuple(choice.message.content or "" for choice in choices),
            prompt_tokens=sum(reply.usage.prompt_tokens for reply in replies),
            completion_tokens=sum(reply.usage.completion_tokens for reply in replies),
            logprobs=()
            if None in logprobs
            else tuple(value for value in logprobs if value is not None),
        )
