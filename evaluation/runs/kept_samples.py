"""An engine that stores a model's completions and replays them: the same samples in every run.

So the steps after sampling (guard, repair, score, vote) are compared on the same candidates,
without the model and unaffected by chance or batching. A stored request for K samples also answers
the same request for fewer: these are its first samples, as engines increment the seed from sample
to sample.

The samples are in one file of JSON lines, appended as they come, so that a kill loses none. Each
line belongs to one model; lines of others are skipped. Failures are not stored. Replayed samples
take no time, so times are not meaningful.
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

from evaluation.runs.journal_files import append_line, drop_torn_line, hold_lock, read_lines
from nl2sql.protocols import Engine, Probe
from nl2sql.types import Completions, SamplingRequest


class KeptSamples:
    """The completions of one model in a file. ``open_engine`` is called if one is missing."""

    def __init__(
        self, path: Path, model: str, open_engine: Callable[[], Awaitable[Engine]]
    ) -> None:
        self._path = path
        self._model = model
        self._open_engine = open_engine
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()
        # With the K that was requested: an engine may end a request with fewer samples.
        self._completions: dict[str, tuple[int, Completions]] = {}
        self._tokens: dict[str, int] = {}

    @contextmanager
    def open(self) -> Iterator[KeptSamples]:
        """Reads the file and locks it. Raises SettingsError if another process has locked it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(
            Path(f"{self._path}.lock"),
            f"Another process keeps samples in {self._path}.",
            "Wait for it, or give this one another --samples.",
        ):
            self._read()
            yield self

    async def sample(self, request: SamplingRequest) -> Completions:
        """The stored completions, or those of the model. Raises as the model does."""
        key = _name_request(request)
        drawn, kept = self._completions.get(key, (0, None))
        if kept is None or drawn < request.k:
            engine = await self._find_engine()
            # Only complete results are stored.
            kept = await engine.sample(replace(request, time_limit_s=None))
            self._completions[key] = request.k, kept
            self._write({"request": key, "k": request.k, **asdict(kept)})
        return _take_first(kept, request.k)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The model's token counts; each text is counted once."""
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
        """The probe of the model, if it was opened and has one."""
        return await self._engine.probe() if isinstance(self._engine, Probe) else ()

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
            )
            drawn = line.get("k", len(kept.texts))
            if drawn > self._completions.get(key, (0,))[0]:
                self._completions[key] = drawn, kept

    def _write(self, line: dict[str, Any]) -> None:
        append_line(self._path, {"model": self._model, **line})


def _name_request(request: SamplingRequest) -> str:
    """A key of the request without K, the time limit and what says nothing to the model."""
    value = asdict(request)
    del value["k"], value["time_limit_s"], value["prompt"]["contains"]
    return _digest(json.dumps(value, sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _take_first(kept: Completions, k: int) -> Completions:
    """The first ``k`` samples, with a proportional share of the completion tokens.

    >>> _take_first(Completions(("a", "b", "c", "d"), 100, 40), 2)
    Completions(texts=('a', 'b'), prompt_tokens=100, completion_tokens=20)
    """
    if k >= len(kept.texts):
        return kept
    return Completions(
        kept.texts[:k],
        kept.prompt_tokens,
        round(kept.completion_tokens * k / len(kept.texts)),
    )
