"""Shared by the engines of remote servers: keys, errors, and estimates without a tokenizer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

from nl2sql.errors import EngineUnavailable, PromptTooLong, QuorumError, SettingsError
from nl2sql.schema_text import MESSAGE_MARKS
from nl2sql.settings import ModelSettings
from nl2sql.types import SamplingRequest

# The longest part of a server's message in an error.
_MESSAGE_CHARS = 300
# Even a server that takes minutes for an answer accepts a connection quickly.
CONNECT_S = 10.0
# Texts in the messages of servers that have no error code for a long prompt.
_TOO_LONG = ("context length", "context window", "context size", "prompt is too long")
_TOO_LONG_CODES = ("context_length_exceeded", "exceed_context_size_error", "request_too_large")
_THINKING_END = "</think>"
_FENCE, _FENCES_OF_ONE = "```", 2

_T = TypeVar("_T")


def read_api_key(settings: ModelSettings, environ: Mapping[str, str] = os.environ) -> str:
    """The server's key; empty if none is configured. Raises SettingsError if it is not set."""
    if not settings.api_key_env:
        return ""
    if not environ.get(settings.api_key_env):
        raise SettingsError(
            f"The environment variable {settings.api_key_env} is not set.",
            hint=f"It holds the key for {describe_server(settings)}.",
        )
    return environ[settings.api_key_env]


def describe_server(settings: ModelSettings) -> str:
    """The server's name in errors."""
    return settings.base_url or f"{settings.engine}'s own server"


def translate_status(
    settings: ModelSettings, status: int, message: str, code: str = ""
) -> QuorumError:
    """The error for an HTTP status of the server, with the start of its message.

    >>> server = ModelSettings(engine="openai", base_url="http://gpu:8000/v1", served_name="m")
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
        return SettingsError(
            text, hint="Are model.base_url (with its /v1) and model.served_name right?"
        )
    if status == 429 or status >= 500:
        return EngineUnavailable(text, hint="It is overloaded or restarts; try again later.")
    return EngineUnavailable(text, hint="`quorumsql doctor` checks the server.")


def build_unreachable(settings: ModelSettings) -> EngineUnavailable:
    """The error for a failed or closed connection to the server."""
    return EngineUnavailable(
        f"{describe_server(settings)} cannot be reached.",
        hint="Is the model's server up, and model.base_url right?",
    )


def build_timeout(settings: ModelSettings) -> EngineUnavailable:
    """The error for a server that does not answer in time."""
    return EngineUnavailable(
        f"{describe_server(settings)} did not answer within {settings.timeout_ms} ms.",
        hint="It is overloaded, or model.timeout_ms is too short for it.",
    )


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
