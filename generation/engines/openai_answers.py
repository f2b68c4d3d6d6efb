"""The parts of a server's answers that are read; all other fields are ignored."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from generation.engines.server import extract_answer
from nl2sql.types import SamplingRequest


class Message(BaseModel):
    """The model's text, without thinking that the server returns separately."""

    content: str | None = None


class TokenLogprob(BaseModel):
    """The log-probability of one sampled token."""

    logprob: float


class Logprobs(BaseModel):
    """A value for each token; None if the server returns none."""

    content: tuple[TokenLogprob, ...] | None = None


class Choice(BaseModel):
    """One completion."""

    message: Message
    logprobs: Logprobs | None = None

    def mean_logprob(self) -> float | None:
        """The mean over the tokens; None if the server returns no values."""
        tokens = self.logprobs.content if self.logprobs else None
        return sum(token.logprob for token in tokens) / len(tokens) if tokens else None


class Usage(BaseModel):
    """The numbers of tokens read and written."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Reply(BaseModel):
    """The answer to a request: one or more completions."""

    choices: Annotated[tuple[Choice, ...], Field(min_length=1)]
    usage: Usage = Usage()

    def cut(self, request: SamplingRequest) -> Reply:
        """The reply with only the part of each text that continues ``request.answer_start``."""
        choices = []
        for choice in self.choices:
            text = extract_answer(choice.message.content or "", request)
            choices.append(choice.model_copy(update={"message": Message(content=text)}))
        return self.model_copy(update={"choices": tuple(choices)})


class Tokenized(BaseModel):
    """The answer of vLLM's ``/tokenize``."""

    count: int
    max_model_len: int


class Model(BaseModel):
    """A served model."""

    id: str


class ModelList(BaseModel):
    """The answer of ``/models``."""

    data: tuple[Model, ...]
