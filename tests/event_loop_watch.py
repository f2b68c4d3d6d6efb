"""Measures what an event loop computes between two turns, and what its process does meanwhile."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType

_BEAT_S = 0.001
_LATE_S = 0.020
_LOOK_S = 0.005
_DEPTH = 4
_FOLDER = str(Path(__file__).parents[1])


class EventLoopWatch:
    """Runs periodically in the loop, and samples the stacks of all threads while a run is late.

    ``computed_ms`` has the processor time that the loop's own thread took for each run and for what
    ran between: a busy machine makes a loop late, but does not make it compute.
    """

    def __init__(self) -> None:
        self.computed_ms: list[float] = []
        self.seen: Counter[str] = Counter()
        self._beat = time.perf_counter()
        self._collecting = 0.0
        self._ended = threading.Event()

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Watches the running loop in this context."""
        beating = asyncio.create_task(self._run())
        looking = threading.Thread(target=self._look, daemon=True)
        looking.start()
        gc.callbacks.append(self._time_collection)
        try:
            await asyncio.sleep(2 * _BEAT_S)
            yield
            await asyncio.sleep(2 * _BEAT_S)
        finally:
            gc.callbacks.remove(self._time_collection)
            beating.cancel()
            await asyncio.wait({beating})
            self._ended.set()
            looking.join()

    def describe(self) -> str:
        """What was done while the loop was late, the most frequent first."""
        return "\n".join(f"{count:5}  {what}" for what, count in self.seen.most_common(12))

    async def _run(self) -> None:
        while True:
            computed = time.thread_time()
            self._beat = time.perf_counter()
            await asyncio.sleep(_BEAT_S)
            self.computed_ms.append((time.thread_time() - computed) * 1000)

    def _time_collection(self, phase: str, info: Mapping[str, int]) -> None:
        if phase == "start":
            self._collecting = time.perf_counter()
        elif time.perf_counter() - self._collecting > _LATE_S:
            self.seen[f"garbage collection of generation {info['generation']}"] += 1

    def _look(self) -> None:
        own = threading.get_ident()
        while not self._ended.wait(_LOOK_S):
            if time.perf_counter() - self._beat < _LATE_S + _BEAT_S:
                continue
            for thread, frame in sys._current_frames().items():
                if thread != own and (where := _describe(frame)):
                    self.seen[where] += 1


def _describe(frame: FrameType | None) -> str:
    """The innermost functions of this project, with their callers."""
    own: list[str] = []
    while frame is not None and len(own) < _DEPTH:
        file = frame.f_code.co_filename
        if file.startswith(_FOLDER) and "/.venv/" not in file:
            own.append(f"{file.removeprefix(_FOLDER + '/')}:{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(own)
