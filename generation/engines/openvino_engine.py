"""OpenVINO GenAI on this machine: the engine for machines without a GPU.

The model runs in a separate process (``openvino_process.py``). The K answers to a question start
after the first has read the prompt, so that it is computed once. Prompts of earlier questions are
cached, runs with the same seed are repeatable, and a call that is cancelled or reaches its time
limit frees its places. If the process dies, the next request or probe restarts it, and the requests
that it had are repeated once. Knows nothing of SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from generation.engines.chat_encoder import ChatEncoder
from generation.engines.choice import count_cores
from generation.engines.openvino_model import OpenVinoTokenizer, count_cache_tokens
from generation.engines.openvino_server import (
    EngineDied,
    OpenVinoArguments,
    OpenVinoServer,
    start_server,
)
from generation.engines.server import count_room
from nl2sql.deadline import Deadline
from nl2sql.errors import EngineUnavailable
from nl2sql.progress import is_observed, report_sampling
from nl2sql.settings import ModelSettings
from nl2sql.types import Completions, Progress, SamplingRequest

# Concurrent completions; more wait for their turn.
_SLOTS = 16
# How often a request is sent if the process dies.
_ATTEMPTS = 2
# Completions that are this much longer than the shorter half are abandoned. On 223 questions
# (Spider, the demo, erp86; K=4) this loses no right query and saves a quarter of the steps.
_MOST_TIMES_LONGER = 1.25
_MOST_TOKENS_LONGER = 16

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class _TokenSequence:
    """One completion, perhaps unfinished."""

    ids: list[int] = field(default_factory=list)
    is_finished: bool = False

    @property
    def tokens(self) -> int:
        return len(self.ids)


class _Sampling:
    """The completions of one request, perhaps unfinished."""

    def __init__(self, request: SamplingRequest, prompt_tokens: int) -> None:
        self.outputs: list[_TokenSequence] = []
        self.prompt_tokens_read = 0
        self._k = request.k
        self._prompt_tokens = prompt_tokens

    @property
    def finished(self) -> list[_TokenSequence]:
        return [output for output in self.outputs if output.is_finished]

    def begin(self) -> None:
        """Forgets what a process wrote that died."""
        self.outputs = [_TokenSequence() for _ in range(self._k)]

    def add(self, message: Mapping[str, Any]) -> None:
        """Adds what the process wrote. Raises EngineUnavailable if it refused the request."""
        if "error" in message:
            raise EngineUnavailable(f"OpenVINO: {message['error']}.", hint="Try again later.")
        self.prompt_tokens_read = message["read"]
        for index, ids, ends in message["outputs"]:
            output = self.outputs[index]
            output.ids += ids
            output.is_finished = ends

    def report(self) -> None:
        """Reports the progress to the question's observer."""
        if is_observed():
            report_sampling(
                self,
                Progress(
                    "",
                    done=len(self.finished),
                    total=self._k,
                    prompt_tokens_read=self.prompt_tokens_read,
                    prompt_tokens=self._prompt_tokens,
                    answer_tokens=sum(output.tokens for output in self.outputs),
                ),
            )


class OpenVinoEngine:
    """A language model run by OpenVINO GenAI. Loading takes seconds."""

    def __init__(
        self,
        folder: Path,
        settings: ModelSettings,
        start: Callable[[OpenVinoArguments], OpenVinoServer] = start_server,
        load_tokenizer: Callable[[Path], OpenVinoTokenizer] = OpenVinoTokenizer,
    ) -> None:
        """Loads the model in ``folder``. Raises EngineUnavailable if OpenVINO does not start."""
        self._max_model_len = settings.max_model_len
        arguments = OpenVinoArguments(
            folder,
            cache_tokens=count_cache_tokens(folder, settings),
            slots=_SLOTS,
            threads=count_cores(),
        )
        self._start = partial(start, arguments)
        # Both take long, in different processes.
        with ThreadPoolExecutor(1) as threads:
            starting = threads.submit(self._start)
            self._tokenizer = load_tokenizer(folder)
            self._server = starting.result()
        self._restarting: asyncio.Task[None] | None = None
        self._chat = ChatEncoder(self._tokenizer)

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` completions, or those that are finished at the time limit.

        Raises PromptTooLong, and EngineUnavailable if the process died.
        """
        deadline = Deadline.after(request.time_limit_s)
        ids = self._chat.encode(request.prompt, request.answer_start)
        room = count_room(len(ids), self._max_model_len)
        draw = _Sampling(request, len(ids))
        draw.report()
        body = {
            "ids": ids,
            "k": request.k,
            "seed": request.seed,
            "temperature": request.temperature,
            "max_tokens": min(request.max_tokens, room),
            "stop": list(request.stop),
        }
        await self._call(partial(_fill, body=body, draw=draw, deadline=deadline))
        finished = draw.finished
        return Completions(
            texts=tuple(
                cut_at_stop(self._tokenizer.decode(output.ids), request.stop) for output in finished
            ),
            prompt_tokens=len(ids),
            completion_tokens=sum(output.tokens for output in draw.outputs),
        )

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The number of tokens of each text, without special tokens."""
        return tuple(map(self._chat.count, texts))

    async def requests_in_flight(self) -> int:
        """The number of completions in progress, without those of cancelled requests."""
        return await self._call(OpenVinoServer.count_running)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("engine", problem),)``, empty if all is well."""
        if self._server.is_running:
            return (("engine", ""),)
        failure = None
        if self._restarting is not None and self._restarting.done():
            failure = self._restarting.exception()
        self._restart()
        return (("engine", str(failure or "The engine has died and is restarted.")),)

    @property
    def pid(self) -> int:
        """The id of the process that runs the model."""
        return self._server.pid

    async def check_health(self) -> None:
        """For Ray Serve; never raises, because the engine restarts its process itself."""

    async def close(self) -> None:
        """Ends the process, also one that is starting."""
        if self._restarting is not None:
            await asyncio.wait((self._restarting,))
        await self._server.disconnect()
        await asyncio.to_thread(self._server.stop)

    async def _call(self, ask: Callable[[OpenVinoServer], Awaitable[_Answer]]) -> _Answer:
        """The process's answer; the request is repeated once if the process died."""
        for _ in range(_ATTEMPTS):
            if not self._server.is_running:
                # The start goes on if whoever waits for it leaves.
                await asyncio.shield(self._restart())
            server = self._server
            try:
                return await ask(server)
            except (EngineDied, OSError):
                await asyncio.to_thread(server.wait_for_death)
        raise EngineUnavailable(
            "The language model's engine has died twice over this request.",
            hint="It is restarted; ask something else, or the same later.",
        )

    def _restart(self) -> asyncio.Task[None]:
        """One start at a time, for all who wait."""
        if self._restarting is None or self._restarting.done():
            self._restarting = asyncio.create_task(self._replace())
        return self._restarting

    async def _replace(self) -> None:
        await self._server.disconnect()
        try:
            await asyncio.to_thread(self._server.stop)
            self._server = await asyncio.to_thread(self._start)
        except OSError as error:
            # Such as no memory for a process or no room for its log, which may pass.
            raise EngineUnavailable(f"The engine does not start: {error}.") from error


async def _fill(
    server: OpenVinoServer, body: Mapping[str, Any], draw: _Sampling, deadline: Deadline
) -> None:
    """Fills the outputs of ``draw``, in order of seeds; after the deadline until one is finished.

    The process writes after each of its steps.
    """
    draw.begin()
    async with aclosing(server.sample(body)) as messages:
        async for message in messages:
            draw.add(message)
            draw.report()
            if (draw.finished and deadline.has_passed) or _are_too_long(draw.outputs):
                return


def _are_too_long(outputs: Sequence[_TokenSequence]) -> bool:
    """Whether the shorter half is finished and all others are much longer."""
    half = max(2, len(outputs) // 2)
    finished = sorted(output.tokens for output in outputs if output.is_finished)
    if len(finished) < half:
        return False
    most = finished[half - 1] * _MOST_TIMES_LONGER + _MOST_TOKENS_LONGER
    return all(output.tokens > most for output in outputs if not output.is_finished)


def cut_at_stop(text: str, stops: Sequence[str]) -> str:
    """The text before the first of ``stops``.

    >>> cut_at_stop("SELECT 1;\\n```", (";", "```"))
    'SELECT 1'
    """
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=None)]
