"""The body of ``POST /v1/chat/completions``, as far as this service uses it.

Parameters that steer a language model's words (temperature, stop and the like) are accepted and
have no effect: a pipeline answers, not a model. So are tools, which chat clients offer with every
request; none is ever called. What would change the form of the answer (a tool that must be called,
several choices, audio) is refused, and so is a parameter of ``POST /query`` and whatever is spelt
almost like a parameter that is known here: it would have no effect, and its sender expects one.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nl2sql.errors import InvalidRequest
from nl2sql.yaml_file import find_nearest
from quorumsql.contract import QueryRequest

# Parameters that ask for another form of answer, with the values that ask for none.
_REFUSED: dict[str, tuple[Any, ...]] = {
    "audio": (),
    "function_call": ("none", "auto"),
    "logprobs": (False,),
    "modalities": (["text"],),
    "n": (1,),
    "response_format": ({"type": "text"},),
    "tool_choice": ("none", "auto"),
    "top_logprobs": (0,),
    "web_search_options": (),
}
# As similar is a misspelling; `session_id`, which some clients send, is less like `session`.
_MISSPELT = 0.85


class TextPart(BaseModel):
    """A part of a message's content. Other kinds than text are refused."""

    model_config = ConfigDict(strict=True)

    type: str
    text: str = ""


class ChatMessage(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(strict=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None

    def read_text(self) -> str:
        """The message as text. Raises InvalidRequest for images, audio and files."""
        if isinstance(self.content, list):
            for part in self.content:
                if part.type not in ("text", "input_text", "refusal"):
                    raise InvalidRequest(
                        f"Content of type {part.type!r} cannot be read; only text can.",
                        field="messages",
                    )
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    """What a stream contains besides."""

    model_config = ConfigDict(strict=True)

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A chat completion request."""

    model_config = ConfigDict(
        extra="allow",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "model": "quorumsql",
                    "messages": [
                        {"role": "user", "content": "How many employees are currently active?"}
                    ],
                }
            ]
        },
    )

    model: str = Field(description="A database, or `quorumsql` for the default one.")
    messages: list[ChatMessage] = Field(min_length=1, description="The conversation so far.")
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    seed: int | None = Field(None, ge=-(2**63), lt=2**63, description="A run repeats with it.")
    tools: list[dict[str, Any]] | None = Field(None, description="None of them is called.")
    functions: list[dict[str, Any]] | None = Field(None, description="None of them is called.")

    def check_parameters(self) -> None:
        """Raises InvalidRequest for a parameter that is not supported, or is misspelt."""
        steering = {name for name, own in ChatRequest.model_fields.items() if not own.is_required()}
        known = {*_REFUSED, *steering, *QueryRequest.model_fields}
        for name, value in (self.model_extra or {}).items():
            nearest = find_nearest(name.lower(), known, cutoff=_MISSPELT)
            if not nearest or value in (None, *_REFUSED.get(name, ())):
                continue
            hint = f"; did you mean {nearest!r}?" if nearest != name else "."
            if nearest not in {*_REFUSED, *steering}:
                hint = f"; POST /query has {nearest!r}."
            raise InvalidRequest(
                f"Unsupported parameter: {name!r} is not supported with this model{hint}",
                field=name,
            )
