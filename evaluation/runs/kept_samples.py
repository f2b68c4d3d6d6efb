"""An engine that keeps what a model answered, and gives it again: the same samples in every run.

What follows sampling (guard, repair, score, vote) is compared on the very same candidates, without
the model: neither chance nor the questions that shared a batch stand between two runs. A request
for K samples also answers the same request for fewer: they are its first ones, as an engine counts
a seed on from sample to sample.

One file of JSON lines, appended to as answers come, so that a kill loses nothing. A line is of one
model; others are passed over. Failures are not kept.

Not covered: times. What is given again takes none.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evaluation.runs.file_lock import hold_lock
from evaluation.runs.json_lines import append_line, drop_torn_line, read_lines
from nl2sql.protocols import Engine, Probe
from nl2sql.speed import EngineSpeed
from nl2sql.types import Completions, SamplingRequest


class KeptSamples:
    """The answers of one model in a file. ``open_engine`` is called when it lacks one."""

    def __init__(
        self, path: Path, model: str, open_engine: Callable[[], Awaitable[Engine]]
    ) -> None:
        self._path = path
        self._model = model
        self._open_engine = open_engine
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()
        self._completions: dict[str, Completions] = {}
        self._tokens: dict[str, int] = {}

    @contextmanager
    def open(self) -> Iterator[KeptSamples]:
        """Reads the file and holds it for writing. Raises SettingsError when another does."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(
            Path(f"{self._path}.lock"),
            f"Another process keeps samples in {self._path}.",
            "Wait for it, or give this one another --samples.",
        ):
            self._read()
            yield self

    async def sample(self, request: SamplingRequest) -> Completions:
        """What is kept of the request, or what the model says now. Raises as the model does."""
        key = _name_request(request)
        kept = self._completions.get(key)
        if kept is None or len(kept.texts) < request.k:
            engine = await self._find_engine()
            # What is kept is whole.
            kept = await engine.sample(replace(request, time_limit_s=None))
            self._completions[key] = kept
            self._write({"request": key, **asdict(kept)})
        return _take_first(kept, request.k)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """As the model counts; each text is asked of it once."""
        keys = [_digest(text) for text in texts]
        if unknown := {
            key: text for key, text in zip(keys, texts, strict=True) if key not in self._tokens
        }:
            engine = await self._find_engine()
            counts = await engine.count_tokens(tuple(unknown.values()))
            for key, tokens in zip(unknown, counts, strict=True):
                self._tokens[key] = tokens
                self._write({"text": key, "tokens": tokens})
        return tuple(self._tokens[key] for key in keys)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """What is wrong with the model, as far as it was asked and can tell."""
        return await self._engine.probe() if isinstance(self._engine, Probe) else ()

    async def speed(self) -> EngineSpeed | None:
        """Unknown: what is given again takes no time."""
        return None

    async def _find_engine(self) -> Engine:
        async with self._opening:
            if self._engine is None:
                self._engine = await self._open_engine()
            return self._engine

    def _read(self) -> None:
        if not self._path.exists():
            return
        drop_torn_line(self._path)
        for line in read_lines(self._path):
            if line.pop("model", None) != self._model:
                continue
            if "text" in line:
                self._tokens[line["text"]] = line["tokens"]
                continue
            key = line.pop("request")
            kept = Completions(
                tuple(line["texts"]),
                line["prompt_tokens"],
                line["completion_tokens"],
                tuple(line["logprobs"]),
            )
            before = self._completions.get(key)
            if before is None or len(before.texts) < len(kept.texts):
                self._completions[key] = kept

    def _write(self, line: dict[str, Any]) -> None:
        append_line(self._path, {"model": self._model, **line})


def _name_request(request: SamplingRequest) -> str:
    """All of a request but K, and when somebody stops waiting."""
    value = asdict(request)
    del value["k"], value["time_limit_s"]
    return _digest(json.dumps(value, sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _take_first(kept: Completions, k: int) -> Completions:
    """The first ``k`` samples; their tokens are told as an even share of all.

    >>> _take_first(Completions(("a", "b", "c", "d"), 100, 40, (-1.0, -2.0, -3.0, -4.0)), 2)
    Completions(texts=('a', 'b'), prompt_tokens=100, completion_tokens=20, logprobs=(-1.0, -2.0))
    """
    if k == len(kept.texts):
        return kept
    return Completions(
        kept.texts[:k],
        kept.prompt_tokens,
        round(kept.completion_tokens * k / len(kept.texts)),
        kept.logprobs[:k],
    )
