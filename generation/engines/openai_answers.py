"""What is read of a server's answers; whatever else stands in them is ignored."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from generation.engines.server import read_own_words
from nl2sql.types import SamplingRequest


class Message(BaseModel):
    """What the model said; thoughts that a server keeps apart are not in it."""

    content: str | None = None


class TokenLogprob(BaseModel):
    """The log-probability of one drawn token."""

    logprob: float


class Logprobs(BaseModel):
    """A value a token; None where the server tells none."""

    content: tuple[TokenLogprob, ...] | None = None


class Choice(BaseModel):
    """One completion."""

    message: Message
    logprobs: Logprobs | None = None

    def mean_logprob(self) -> float | None:
        """The mean over the tokens; None where none are told."""
        tokens = self.logprobs.content if self.logprobs else None
        return sum(token.logprob for token in tokens) / len(tokens) if tokens else None


class Usage(BaseModel):
    """Tokens read and written."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Reply(BaseModel):
    """The answer to one request for completions: one or more."""

    choices: Annotated[tuple[Choice, ...], Field(min_length=1)]
    usage: Usage = Usage()

    def cut(self, request: SamplingRequest) -> Reply:
        """The same with the model's own words only, where it wrote the whole answer."""
        words = [read_own_words(choice.message.content or "", request) for choice in self.choices]
        choices = tuple(
            choice.model_copy(update={"message": Message(content=text)})
            for choice, text in zip(self.choices, words, strict=True)
        )
        return self.model_copy(update={"choices": choices})


class Tokenized(BaseModel):
    """The answer of vLLM's ``/tokenize``."""

    count: int
    max_model_len: int


class Model(BaseModel):
    """A model that is served."""

    id: str


class ModelList(BaseModel):
    """The answer of ``/models``."""

    data: tuple[Model, ...]
