"""Responses in OpenAI's form: completions, chunks of a stream, models, errors."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from nl2sql.answers import Trace

DEFAULT_MODEL = "quorumsql"
# When this process started; a database has no date of its own.
_CREATED = int(time.time())
_ERROR_TYPES = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", None),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


def build_model(name: str) -> dict[str, Any]:
    """A database as a model."""
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": DEFAULT_MODEL}


def count_usage(trace: Trace | None) -> dict[str, int]:
    """The tokens that an answer cost, all candidates together; zeros where no model was asked."""
    timings = trace.timings if trace else ()
    prompt = sum(timing.prompt_tokens for timing in timings)
    completion = sum(timing.completion_tokens for timing in timings)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def build_error(status: int, problem: dict[str, Any]) -> dict[str, Any]:
    """A problem document in OpenAI's form."""
    kind, code = _ERROR_TYPES.get(
        status, ("server_error" if status >= 500 else "invalid_request_error", None)
    )
    errors = problem.get("errors") or [{}]
    param = errors[0].get("field")
    return {
        "error": {
            "message": problem.get("detail") or problem.get("title") or "Error",
            "type": kind,
            "param": "model" if param == "database" else param,
            "code": code,
        }
    }


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion, whole or in chunks; ``model`` is the name that the client asked for."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def build_whole(self, content: str, usage: dict[str, int]) -> dict[str, Any]:
        """The response without a stream."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": content,
            "refusal": None,
            "annotations": [],
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self._head("chat.completion"), "choices": [choice], "usage": usage}

    def build_chunk(
        self, delta: dict[str, Any], *, finish_reason: str | None = None, **extra: Any
    ) -> dict[str, Any]:
        """A chunk of a stream."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**self._head("chat.completion.chunk"), "choices": [choice], **extra}

    def build_progress(self, text: str) -> dict[str, Any]:
        """A chunk that says how far the question is.

        Under both names that clients read for reasoning, and as Open WebUI's status.
        """
        delta = {"content": "", "reasoning": f"{text}\n", "reasoning_content": f"{text}\n"}
        status = {"type": "status", "data": {"description": text, "done": False}}
        return self.build_chunk(delta, event=status)

    def build_usage(self, usage: dict[str, int]) -> dict[str, Any]:
        """The chunk after the last, with the tokens used."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": usage}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}
