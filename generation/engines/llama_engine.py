"""llama.cpp on this machine: the engine for machines without a GPU.

The server runs in a separate process (``llama_server.py``) and loads the downloaded GGUF file. A
question is one request with ``n=K``, so that its prompt is computed once. Prompts of earlier
questions are cached, runs with the same seed are repeatable, and a call that is cancelled or
reaches its time limit frees its slots. If the process dies, it is restarted and requests are
repeated once. Knows nothing of SQL.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx

from generation.engines.llama_chat import ChatTemplate
from generation.engines.llama_checks import CONTEXTS
from generation.engines.llama_keeper import LlamaKeeper
from generation.engines.llama_room import Room
from generation.engines.llama_server import LlamaArguments, LlamaServer, start_server
from generation.engines.server import build_too_long
from generation.engines.speed import MeasuredSpeed
from generation.engines.time_limit import TimeLimit
from generation.models.adapters import PURPOSES, find_gguf_adapter
from nl2sql.cache_counts import count_lookups
from nl2sql.errors import EngineUnavailable
from nl2sql.progress import is_observed, report_sampling
from nl2sql.settings import ModelSettings
from nl2sql.speed import EngineSpeed
from nl2sql.types import Completions, Progress, SamplingRequest

# Concurrent completions.
_SLOTS = 16
# How often a request is sent if the process dies.
_ATTEMPTS = 2
# Completions that are this much longer than the shorter half are abandoned. On 223 questions
# (Spider, the demo, erp86; K=4) this loses no right query and saves a quarter of the steps.
_MOST_TIMES_LONGER = 1.25
_MOST_TOKENS_LONGER = 16

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class _Output:
    """One completion, perhaps unfinished."""

    pieces: list[str] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    tokens: int = 0
    prompt_tokens_read: int = 0
    is_finished: bool = False

    def add(self, piece: Mapping[str, Any]) -> None:
        if (prompt := piece.get("prompt_progress")) is not None:
            self.prompt_tokens_read = prompt["processed"]
            return
        self.pieces.append(piece["content"])
        self.logprobs += [token["logprob"] for token in piece.get("completion_probabilities", ())]
        self.tokens = max(self.tokens, piece["tokens_predicted"])
        self.is_finished = piece.get("stop", False)


class _Draw:
    """The completions of one request, perhaps unfinished."""

    def __init__(self, request: SamplingRequest, prompt_tokens: int) -> None:
        self.outputs: list[_Output] = []
        self._k = request.k
        self._prompt_tokens = prompt_tokens

    @property
    def finished(self) -> list[_Output]:
        return [output for output in self.outputs if output.is_finished]

    def report(self) -> None:
        """Reports the progress to the question's observer."""
        if not is_observed():
            return
        answer_tokens = sum(output.tokens for output in self.outputs)
        read = max((output.prompt_tokens_read for output in self.outputs), default=0)
        report_sampling(
            self,
            Progress(
                "",
                done=len(self.finished),
                total=self._k,
                prompt_tokens_read=self._prompt_tokens if answer_tokens else read,
                prompt_tokens=self._prompt_tokens,
                answer_tokens=answer_tokens,
            ),
        )


class LlamaEngine:
    """A language model served by llama.cpp. Loading takes seconds."""

    def __init__(
        self,
        weights: Path,
        settings: ModelSettings,
        start: Callable[[LlamaArguments], LlamaServer] = start_server,
        *,
        adapter: Path | None = None,
    ) -> None:
        """Loads the GGUF file, and that of the adapter.

        Raises EngineUnavailable if llama.cpp does not start.
        """
        self._arguments = LlamaArguments(
            weights,
            context_tokens=settings.max_model_len * CONTEXTS,
            slots=_SLOTS,
            threads=max(1, len(os.sched_getaffinity(0)) - settings.reserved_cores),
            prompt_cache_mib=settings.kv_cache_gib * 1024,
            adapter=find_gguf_adapter(adapter) if adapter else None,
        )
        self._max_model_len = settings.max_model_len
        self._room = Room(tokens=self._arguments.context_tokens, slots=_SLOTS)
        self._template: ChatTemplate | None = None
        self._mark = 0
        self._encoded: dict[str, list[int]] = {}
        self._keeper = LlamaKeeper(partial(start, self._arguments))
        self._speed = MeasuredSpeed(self.sample)

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` completions, or those that are finished at the time limit.

        Raises PromptTooLong, and EngineUnavailable if the process died.
        """
        limit = TimeLimit(request.time_limit_s)
        token_ids = await self._encode(request)
        room = self._max_model_len - len(token_ids)
        if room < 1:
            raise build_too_long(
                f"The prompt has {len(token_ids)} tokens, the model takes {self._max_model_len}."
            )
        max_tokens = min(request.max_tokens, room)
        draw = _Draw(request, len(token_ids))
        draw.report()
        # More completions than slots are computed one after another.
        for first in range(0, request.k, _SLOTS):
            k = min(request.k - first, _SLOTS)
            body = {
                "prompt": token_ids,
                "n": k,
                "seed": request.seed + first,
                "temperature": request.temperature,
                # Only the request determines the sampling, not the server's defaults.
                "samplers": ["temperature"],
                "n_predict": max_tokens,
                "stop": list(request.stop),
                # Only those of the sampled tokens, which measure the model's certainty.
                "n_probs": 1,
                # Only while it streams does the server notice a closed connection.
                "stream": True,
                "return_progress": is_observed(),
                **self._choose_adapter(request),
            }
            async with limit.hold(), self._room.take(len(token_ids) + k * max_tokens, k):
                await self._call(partial(_stream, body=body, draw=draw, first=first, limit=limit))
        finished = draw.finished
        return Completions(
            texts=tuple("".join(output.pieces) for output in finished),
            prompt_tokens=len(token_ids),
            completion_tokens=sum(output.tokens for output in draw.outputs),
            logprobs=tuple(
                sum(output.logprobs) / max(len(output.logprobs), 1) for output in finished
            ),
        )

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The number of tokens of each text, without special tokens."""
        return tuple(map(len, await self._encode_texts(texts)))

    async def speed(self) -> EngineSpeed:
        """The speed, measured at the first call. Raises EngineUnavailable."""
        return await self._speed.read()

    async def requests_in_flight(self) -> int:
        """The number of completions in progress, without those of cancelled requests."""
        slots = await self._call(partial(_request, path="/slots"))
        return sum(slot["is_processing"] for slot in slots)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("engine", problem),)``, empty if all is well."""
        return (("engine", self._keeper.describe_problem()),)

    @property
    def pid(self) -> int:
        """The id of the process that runs the model."""
        return self._keeper.server.pid

    def check_health(self) -> None:
        """For Ray Serve; never raises, because the engine restarts its process itself."""

    async def close(self) -> None:
        """Ends the process."""
        await self._keeper.close()

    def _choose_adapter(self, request: SamplingRequest) -> dict[str, Any]:
        """The adapter's weight in this request; without one, nothing to say."""
        if self._arguments.adapter is None:
            return {}
        return {"lora": [{"id": 0, "scale": float(request.prompt.purpose in PURPOSES)}]}

    async def _encode(self, request: SamplingRequest) -> list[int]:
        template = await self._find_template()
        pieces, contents = template.split(request.prompt, request.answer_start)
        for piece in pieces:
            if piece not in self._encoded:
                self._encoded[piece] = await self._tokenize(piece, has_marks=True)
        ids = list(self._encoded[pieces[0]])
        encoded = await self._encode_texts(contents)
        for content, piece in zip(encoded, pieces[1:], strict=True):
            ids += content + self._encoded[piece]
        return ids

    async def _encode_texts(self, texts: Sequence[str]) -> list[list[int]]:
        """Encodes all texts in one request, separated by a special token that no text contains."""
        if not texts:
            return []
        await self._find_template()
        mixed: list[str | int] = []
        for text in texts:
            mixed += [text, self._mark]
        found: list[list[int]] = [[]]
        for token in await self._tokenize(mixed, has_marks=False):
            if token == self._mark:
                found.append([])
            else:
                found[-1].append(token)
        return found[:-1]

    async def _tokenize(self, content: str | Sequence[str | int], *, has_marks: bool) -> list[int]:
        body = {"content": content, "parse_special": has_marks}
        tokens: list[int] = (await self._call(partial(_request, path="/tokenize", body=body)))[
            "tokens"
        ]
        return tokens

    async def _find_template(self) -> ChatTemplate:
        if self._template is None:
            props = await self._call(partial(_request, path="/props"))
            (self._mark,) = await self._tokenize(props["eos_token"], has_marks=True)
            self._template = ChatTemplate(
                props["chat_template"], props["bos_token"], props["eos_token"]
            )
        return self._template

    async def _call(self, ask: Callable[[httpx.AsyncClient], Awaitable[_Answer]]) -> _Answer:
        """The server's answer; the request is repeated once if the server died."""
        for _ in range(_ATTEMPTS):
            server = await self._keeper.find()
            try:
                return await ask(server.client)
            except httpx.TransportError:
                await asyncio.to_thread(server.wait_for_death)
        raise EngineUnavailable(
            "The language model's engine has died twice over this request.",
            hint="It is restarted; ask something else, or the same later.",
        )


async def _request(
    client: httpx.AsyncClient, path: str, body: Mapping[str, Any] | None = None
) -> Any:
    answer = await (client.get(path) if body is None else client.post(path, json=body))
    _check(answer)
    return answer.json()


async def _stream(
    client: httpx.AsyncClient, body: Mapping[str, Any], draw: _Draw, first: int, limit: TimeLimit
) -> None:
    """Fills the outputs of ``draw`` from ``first`` on with ``n`` completions, in order of seeds."""
    outputs = [_Output() for _ in range(body["n"])]
    # A repeated request starts with empty outputs.
    draw.outputs[first:] = outputs
    limit.arm(if_any=bool(draw.finished))
    async with client.stream("POST", "/completion", json=body) as answer:
        if not answer.is_success:
            await answer.aread()
            _check(answer)
        async for line in _read_lines(answer):
            kind, _, text = line.partition(b":")
            # An empty line ends an event; a line that begins with a colon is a keep-alive comment.
            if not kind:
                continue
            piece = json.loads(text)
            if kind != b"data" or "error" in piece:
                raise _build_error(answer.status_code, piece)
            output = outputs[piece["index"]]
            output.add(piece)
            if output is outputs[0] and "timings" in piece and output.is_finished:
                # All completions share the prompt, of which the first tells.
                timings = piece["timings"]
                count_lookups("prompt_tokens", hits=timings["cache_n"], misses=timings["prompt_n"])
            draw.report()
            if output.is_finished:
                limit.arm()
            if _are_too_long(outputs):
                return


def _are_too_long(outputs: Sequence[_Output]) -> bool:
    """Whether the shorter half is finished and all others are much longer."""
    half = max(2, len(outputs) // 2)
    finished = sorted(output.tokens for output in outputs if output.is_finished)
    if len(finished) < half:
        return False
    most = finished[half - 1] * _MOST_TIMES_LONGER + _MOST_TOKENS_LONGER
    return all(output.tokens > most for output in outputs if not output.is_finished)


async def _read_lines(answer: httpx.Response) -> AsyncIterator[bytes]:
    """Lines of server-sent events. httpx's own lines also end at U+2028, which JSON may contain."""
    rest = b""
    async for read in answer.aiter_bytes():
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")


def _check(answer: httpx.Response) -> None:
    if not answer.is_success:
        raise _build_error(answer.status_code, answer.json())


def _build_error(status: int, answer: Mapping[str, Any]) -> EngineUnavailable:
    message = answer.get("error", answer).get("message", "no reason given")
    return EngineUnavailable(f"llama.cpp answers {status}: {message}.", hint="Try again later.")
