"""What the engines of remote servers share.

Keys, errors, estimates without a tokenizer, the optional fields that a server accepts, and requests
through a vendor's client, whose number is limited and whose errors are translated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ValidationError

from nl2sql.errors import EngineUnavailable, PromptTooLong, QuorumError, SettingsError
from nl2sql.schema_text import MESSAGE_MARKS
from nl2sql.settings import ModelSettings
from nl2sql.settings.section import read_variable
from nl2sql.types import SamplingRequest
from quorumsql.loopback import is_on_loopback

# The longest part of a server's message in an error.
_MESSAGE_CHARS = 300
# Even a server that takes minutes for an answer accepts a connection quickly.
_CONNECT_S = 10.0
# For requests about the server itself, which it answers in milliseconds.
_QUICK_TIMEOUT_S = 10.0
# Texts in the messages of servers that have no error code for a long prompt.
_TOO_LONG = ("context length", "context window", "context size", "prompt is too long")
_TOO_LONG_CODES = ("context_length_exceeded", "exceed_context_size_error", "request_too_large")
_THINKING_END = "</think>"
_FENCE, _FENCES_OF_ONE = "```", 2

_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)


def describe_server(settings: ModelSettings) -> str:
    """The server's name in errors."""
    return settings.base_url or f"{settings.engine}'s own server"


def translate_status(
    settings: ModelSettings, status: int, message: str, code: str = ""
) -> QuorumError:
    """The error for an HTTP status of the server, with the start of its message.

    >>> server = ModelSettings(engine="openai", base_url="http://gpu:8000/v1", name="m")
    >>> print(translate_status(server, 503, "loading"))
    http://gpu:8000/v1 answers 503: loading It is overloaded or restarts; try again later.
    """
    start = " ".join(message.split())[:_MESSAGE_CHARS]
    text = f"{describe_server(settings)} answers {status}: {start}"
    if status == 413 or code in _TOO_LONG_CODES:
        return build_too_long(text)
    if status == 400 and any(sign in message.lower() for sign in _TOO_LONG):
        return build_too_long(text)
    if status in (401, 403):
        variable = settings.api_key_env
        hint = f"Is {variable} right?" if variable else "Name its key in model.api_key_env."
        return SettingsError(text, hint=hint)
    if status in (404, 405, 501):
        return SettingsError(text, hint="Are model.base_url (with its /v1) and model.name right?")
    if status == 429 or status >= 500:
        return EngineUnavailable(text, hint="It is overloaded or restarts; try again later.")
    return EngineUnavailable(text, hint="`quorumsql doctor` checks the server.")


def build_nonsense(settings: ModelSettings) -> EngineUnavailable:
    """The error for an answer that does not follow the protocol."""
    return EngineUnavailable(
        f"{describe_server(settings)} gave an answer that is not a completion.",
        hint=f"Does it speak the protocol of engine {settings.engine} at this address?",
    )


def build_too_long(message: str) -> PromptTooLong:
    """The error for a prompt that is too long for the model."""
    return PromptTooLong(
        message, hint="Shorten the question and its evidence, or raise model.max_model_len."
    )


def count_room(prompt_tokens: int, max_model_len: int) -> int:
    """The tokens that are left for the answer, at least one. Raises PromptTooLong.

    >>> count_room(100, 512)
    412
    """
    if prompt_tokens >= max_model_len:
        raise build_too_long(
            f"The prompt has {prompt_tokens} tokens, the model takes {max_model_len}."
        )
    return max_model_len - prompt_tokens


def estimate_tokens(text: str) -> int:
    """An upper bound without the model's tokenizer: two tokens for five bytes, rounded up.

    In the schemas of 148 databases, a token of Qwen2.5 has 3.8 bytes on average, and 2.8 bytes in
    the worst text of more than 300 bytes.

    >>> estimate_tokens("SELECT name FROM customers")
    11
    """
    return -(-len(text.encode()) * 2 // 5)


def estimate_prompt_tokens(request: SamplingRequest) -> int:
    """An upper bound of the prompt's tokens, including those of the chat template."""
    texts = [message.content for message in request.prompt.messages]
    return sum(map(estimate_tokens, (*texts, request.answer_start))) + count_marks(texts)


def count_marks(messages: Sequence[object]) -> int:
    """The tokens that a chat template adds to these messages and for the answer."""
    return MESSAGE_MARKS * (len(messages) + 1)


def extract_answer(text: str, request: SamplingRequest) -> str:
    """The part of a whole answer after ``answer_start`` and before the first stop.

    Servers that cannot continue an answer return a whole one: thinking, a sentence, the block. If
    there are several blocks, it stays whole: who reads it finds the last.

    >>> from nl2sql.types import Prompt
    >>> request = SamplingRequest(Prompt("p", ()), 1, 0, 0.0, 9, "```sql\\n", ("```",))
    >>> extract_answer("Here:\\n```sql\\nSELECT 1\\n```\\nThat counts.", request)
    '\\nSELECT 1\\n'
    >>> extract_answer("SELECT 1", request)
    'SELECT 1'
    >>> extract_answer("```sql\\n1```Better:```sql\\n2```", request)
    '```sql\\n1```Better:```sql\\n2```'
    """
    answer = text.rpartition(_THINKING_END)[2]
    start = request.answer_start.rstrip()
    if not start or start not in answer or answer.count(_FENCE) > _FENCES_OF_ONE:
        return text
    answer = answer.partition(start)[2]
    for stop in request.stop:
        answer = answer.partition(stop)[0]
    return answer


def choose_stops(request: SamplingRequest) -> tuple[str, ...]:
    """The stops that do not occur in ``answer_start``, where they would end a whole answer.

    >>> from nl2sql.types import Prompt
    >>> choose_stops(SamplingRequest(Prompt("p", ()), 1, 0, 0.0, 9, "```sql\\n", ("```", ";")))
    (';',)
    """
    return tuple(stop for stop in request.stop if stop not in request.answer_start)


class RequestRefused(Exception):
    """A server refused a request because of its content; ``error`` is the error for the caller.

    ``field`` is the field that the server named, or empty.
    """

    def __init__(self, error: QuorumError, *, field: str = "") -> None:
        super().__init__(error.message)
        self.error = error
        self.field = field


class OptionalFields:
    """The optional fields that one server is known to refuse.

    Servers with the same protocol refuse different parts of it with 400 or 422: several completions
    of one prompt, a seed, the continuation of an answer. Some name the refused
    field. If none is named, the fields are left out one after another, in the order of ``names``;
    what helps is left out from then on.
    """

    def __init__(self, *names: str) -> None:
        self._names = names
        self._refused: frozenset[str] = frozenset()

    def refuse(self, *fields: str) -> None:
        """Leaves out the fields from now on."""
        self._refused |= {*fields}

    def choose(self, wanted: frozenset[str]) -> frozenset[str]:
        """The fields that are not known to be refused."""
        return wanted - self._refused

    async def send(
        self, wanted: frozenset[str], request: Callable[[frozenset[str]], Awaitable[_T]]
    ) -> _T:
        """The result of ``request`` with as many of the ``wanted`` fields as the server accepts.

        Raises what ``request`` raises; for a refusal that no field caused, the refusal's ``error``.
        """
        fields = self.choose(wanted)
        while True:
            try:
                answer = await request(fields)
            except RequestRefused as refusal:
                left = [name for name in self._names if name in fields]
                if not left:
                    raise refusal.error from refusal
                fields -= {refusal.field if refusal.field in fields else left[0]}
            else:
                self.refuse(*wanted - fields)
                return answer


class ServerEngine:
    """A model behind a server, which gets at most ``model.concurrency`` requests at a time.

    The clients ``openai`` and ``anthropic`` were made by the same generator, so their methods and
    errors have the same names. The caller passes the client's module; none is imported here.
    """

    RETRIES = 2
    """After a failed connection, 408, 409, 429 or 5xx."""

    optional_fields: ClassVar[tuple[str, ...]] = ()
    """Those that a server may refuse, in the order in which they are left out."""

    def __init__(
        self,
        settings: ModelSettings,
        vendor: Any,
        build_client: Callable[..., Any],
        base_url: str,
        base_error: type[Exception],
    ) -> None:
        """``vendor`` is the client's module, ``base_error`` the base class of its errors.

        Connects at the first request. Raises SettingsError for a missing key.
        """
        self._name, key = describe_server(settings), ""
        if settings.api_key_env:
            key = read_variable(settings.api_key_env, f"the key for {self._name}")
        client = build_client(
            base_url=base_url,
            # Without a key a client would refuse, or search for one in the environment.
            api_key=key or "none",
            timeout=vendor.Timeout(settings.timeout_ms / 1000, connect=_CONNECT_S),
            max_retries=self.RETRIES,
            http_client=vendor.DefaultAsyncHttpxClient(trust_env=not is_on_loopback(base_url)),
        )
        self._settings = settings
        self._client = client
        self._vendor = vendor
        self._base_error = base_error
        self._quick = client.with_options(timeout=_QUICK_TIMEOUT_S, max_retries=0)
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._in_flight = 0
        self._fields = OptionalFields(*self.optional_fields)
        self._max_model_len = settings.max_model_len

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """An upper bound for each text, since a request for each would take too long."""
        return tuple(map(estimate_tokens, texts))

    async def requests_in_flight(self) -> int:
        """The number of HTTP requests that wait for an answer."""
        return self._in_flight

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("engine", problem),)``, empty if the server has the model."""
        try:
            return (("engine", await self._describe_problem()),)
        except RequestRefused as refusal:
            return (("engine", str(refusal.error)),)
        except QuorumError as error:
            return (("engine", str(error)),)

    async def check_health(self) -> None:
        """Never raises: a restart would not help, since the server is remote."""

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _describe_problem(self) -> str:
        """Why the server cannot sample, empty if it can. Raises as ``_request``."""
        raise NotImplementedError

    async def _count_prompt(self, request: SamplingRequest) -> int:
        """The tokens of the prompt, or an upper bound."""
        raise NotImplementedError

    async def _find_room(self, request: SamplingRequest) -> int:
        """The number of tokens that the answer may have. Raises PromptTooLong."""
        messages = [message.content for message in request.prompt.messages]
        # A token is at least one byte, so most prompts need no exact count.
        most = sum(len(text.encode()) for text in (*messages, request.answer_start))
        if most + count_marks(messages) + request.max_tokens <= self._max_model_len:
            return request.max_tokens
        try:
            tokens = await self._count_prompt(request)
        except RequestRefused as refusal:
            raise refusal.error from refusal
        return min(request.max_tokens, count_room(tokens, self._max_model_len))

    async def _read(
        self, kind: type[_Model], url: str, body: dict[str, Any] | None = None, quick: bool = False
    ) -> _Model:
        """The answer's JSON as a ``kind``. Without a ``body``, a GET request.

        ``quick``: a timeout of 10 s and no retries. Raises RequestRefused, PromptTooLong,
        EngineUnavailable, SettingsError.
        """
        answer = await self._request(url, body, quick=quick)
        try:
            return kind.model_validate(answer)
        except ValidationError as error:
            raise build_nonsense(self._settings) from error

    async def _request(self, url: str, body: dict[str, Any] | None, *, quick: bool) -> object:
        """The answer's JSON, or its text if it is not JSON."""
        client, vendor = self._quick if quick else self._client, self._vendor
        async with self._slots:
            self._in_flight += 1
            try:
                if body is None:
                    answer: object = await client.get(url, cast_to=object)
                else:
                    answer = await client.post(url, cast_to=object, body=body)
                return answer
            except vendor.APIStatusError as error:
                raise self._translate(error) from error
            except vendor.APITimeoutError as error:
                raise EngineUnavailable(
                    f"{self._name} did not answer within {self._settings.timeout_ms} ms.",
                    hint="It is overloaded, or model.timeout_ms is too short for it.",
                ) from error
            except vendor.APIConnectionError as error:
                raise EngineUnavailable(
                    f"{self._name} cannot be reached.",
                    hint="Is the model's server up, and model.base_url right?",
                ) from error
            except (self._base_error, ValueError) as error:
                # The answer claims to be JSON and is not.
                raise build_nonsense(self._settings) from error
            finally:
                self._in_flight -= 1

    def _translate(self, error: Any) -> Exception:
        # Only OpenAI's errors have a code and the refused field.
        code = str(getattr(error, "code", None) or "")
        known = translate_status(self._settings, error.status_code, error.message, code)
        if error.status_code in (400, 422) and not isinstance(known, PromptTooLong):
            return RequestRefused(known, field=getattr(error, "param", None) or "")
        return known
