"""Admits requests only if they fit into llama.cpp's cache, which aborts requests when full."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """The tokens and slots that requests share; requests start in order of arrival."""

    def __init__(self, *, tokens: int, slots: int) -> None:
        self._tokens = self._free_tokens = tokens
        self._free_slots = slots
        self._waiting: deque[tuple[int, int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def take(self, tokens: int, slots: int) -> AsyncIterator[None]:
        """Reserves room for the block, waiting if necessary; at most all tokens that there are."""
        tokens = min(tokens, self._tokens)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        place = (tokens, slots, turn)
        self._waiting.append(place)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(tokens, slots)
            else:
                self._waiting.remove(place)
                self._admit()
            raise
        try:
            yield
        finally:
            self._give_back(tokens, slots)

    def _give_back(self, tokens: int, slots: int) -> None:
        self._free_tokens += tokens
        self._free_slots += slots
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            tokens, slots, turn = self._waiting[0]
            if tokens > self._free_tokens or slots > self._free_slots:
                return
            self._waiting.popleft()
            self._free_tokens -= tokens
            self._free_slots -= slots
            turn.set_result(None)
